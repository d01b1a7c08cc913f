/** Each file of `test/fixtures/translation/messages-to-chat`: input and expected output. */

import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { translateBytes } from '../../../../test/support/byte-translation.ts';
import { messagesToChat } from '../../../../test/support/translations.ts';
import { Rejection } from '../../../core/rejection.ts';
import type { ResponseContext } from '../../conversation/response.ts';
import type { JsonObject } from '../../json/parse-body.ts';
import { translateRequest } from '../../translate.ts';

const folder = new URL('../../../../test/fixtures/translation/messages-to-chat/', import.meta.url);
const names = readdirSync(folder);

function filesOf(kind: string): [name: string, content: never][] {
	const found = names.filter((name) => name.startsWith(kind));
	return found.map((name) => [name, JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as never]);
}

const callOf = (request: JsonObject = {}): ResponseContext => ({
	request,
	model: 'asked-model',
	requestId: 'req_7',
	nowSeconds: 1_790_000_000,
});

interface RequestCase {
	readonly target: { readonly model: string; readonly maxOutputTokens?: number };
	readonly request: JsonObject;
	readonly expected: unknown;
}

interface RejectedCases {
	readonly target: { readonly model: string };
	readonly request: JsonObject;
	readonly changes: readonly { readonly why: string; readonly change: JsonObject; readonly expected: JsonObject }[];
}

interface ResponseCase {
	readonly request?: JsonObject;
	readonly answer: JsonObject;
	readonly expected: unknown;
}

interface StreamCase {
	readonly request?: JsonObject;
	readonly chunks: readonly unknown[];
	readonly expected: readonly JsonObject[];
}

interface ErrorCase {
	readonly status: number;
	readonly error?: JsonObject;
	readonly expected: unknown;
}

test('there are files of each kind, and each is read', () => {
	const kinds = ['answer-', 'errors', 'refused-', 'request-', 'stream-'];
	expect(kinds.map((kind) => filesOf(kind).length > 0)).toEqual(kinds.map(() => true));
	expect(kinds.reduce((count, kind) => count + filesOf(kind).length, 0)).toBe(names.length);
});

test.each<[string, RequestCase]>(filesOf('request-'))('%s', (_name, { target, request, expected }) => {
	const before = JSON.stringify(request);
	expect(translateRequest('messages', 'chat', request, { maxOutputTokens: undefined, ...target })).toEqual(expected);
	expect(JSON.stringify(request)).toBe(before);
});

describe.each<[string, RejectedCases]>(filesOf('refused-'))('%s', (_name, { target, request, changes }) => {
	test.each(changes.map((one) => [one.why, one] as const))('%s', (_why, { change, expected }) => {
		try {
			translateRequest('messages', 'chat', { ...request, ...change }, { maxOutputTokens: undefined, ...target });
			expect.unreachable();
		} catch (cause) {
			expect(cause).toBeInstanceOf(Rejection);
			expect({ ...expected }).toEqual({
				code: (cause as Rejection).code,
				param: (cause as Rejection).param,
				message: (cause as Rejection).message,
			});
		}
	});
});

test.each<[string, ResponseCase]>(filesOf('answer-'))('%s', (_name, { request, answer: response, expected }) => {
	expect(messagesToChat.translateResponse(response, callOf(request))).toEqual(expected);
});

test.each<[string, StreamCase]>(filesOf('stream-'))('%s', (_name, { request, chunks, expected }) => {
	const stream = translateBytes(messagesToChat, callOf(request));
	const input = chunks.map((chunk) => `data: ${chunk === '[DONE]' ? chunk : JSON.stringify(chunk)}\n\n`).join('');
	const output = Buffer.concat([stream.push(Buffer.from(input)), stream.end()]).toString();
	expect(output.split('\n\n')).toEqual([...expected.map((data) => `event: ${String(data['type'])}\ndata: ${JSON.stringify(data)}`), '']);
	const last = expected.at(-1)?.['type'];
	expect({ isTerminated: stream.isTerminated, hasFailed: stream.hasFailed }).toEqual({
		isTerminated: last === 'message_stop',
		hasFailed: last === 'error',
	});
});

describe.each<[string, readonly ErrorCase[]]>(filesOf('errors'))('%s', (_name, cases) => {
	test.each(cases.map((one) => [one.status, JSON.stringify(one.error), one] as const))('%i %s', (status, _error, one) => {
		expect(messagesToChat.translateError(status, one.error, callOf())).toEqual(one.expected);
	});
});

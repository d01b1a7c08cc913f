/** One case in every format, and recorded responses as clients receive them: readable as files. */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { translateBytes } from '../../test/support/byte-translation.ts';
import { readRecordings, recordedBytes } from '../../test/support/recordings.ts';
import { type Translation, translations } from '../../test/support/translations.ts';
import { Rejection } from '../core/rejection.ts';
import type { ResponseContext } from './conversation/response.ts';
import { isConversation } from './dialects/dialects.ts';
import { parseExactly } from './json/exact-json.ts';
import { isJsonObject, type JsonObject } from './json/parse-body.ts';
import { translateRequest } from './translate.ts';

const folder = new URL('../../test/fixtures/translation/', import.meta.url);
const cases = readdirSync(new URL('cases/', folder)).filter((name) => !name.includes('.'));
const read = (path: string): JsonObject => {
	const value = parseExactly(readFileSync(new URL(path, folder), 'utf8'));
	if (!isJsonObject(value)) throw new Error(`${path} holds no object`);
	return value;
};
const written = (value: unknown): string => `${JSON.stringify(value, undefined, '\t')}\n`;
const expectFile = async (value: string, path: string): Promise<void> => {
	const file = new URL(path, folder);
	expect(existsSync(file)).toBe(true);
	await expect(value).toMatchFileSnapshot(file.pathname);
};

describe.each(cases)('%s', (name) => {
	const { models } = read(`cases/${name}/models.json`);
	test.each(translations.filter(isShown).map((one) => [one.caller, one.provider, one] as const))(
		'%s to %s',
		async (caller, provider, translation) => {
			const request = read(`cases/${name}/${caller}.json`);
			const before = JSON.stringify(request);
			const model = String(isJsonObject(models) ? models[provider] : undefined);
			const translated = translatedOrRejected(translation, request, model);
			expect(JSON.stringify(request), 'the caller’s request must stay as it was').toBe(before);
			await expectFile(written(translated), `cases/${name}/${caller}-to-${provider}.json`);
		},
	);
});

function isShown({ caller, provider }: Translation): boolean {
	return isConversation(caller) && provider !== 'gemini-openai';
}

function translatedOrRejected({ caller, provider }: Translation, request: JsonObject, model: string): unknown {
	try {
		return translateRequest(caller, provider, request, { model, maxOutputTokens: undefined });
	} catch (cause) {
		if (!(cause instanceof Rejection)) throw cause;
		return { rejected: { param: cause.param, message: cause.message } };
	}
}

const callOf = (request: JsonObject): ResponseContext => ({ request, model: 'alias', requestId: 'req_1', nowSeconds: 1_790_000_000 });
const requests: Readonly<Record<string, JsonObject>> = {
	chat: { stream_options: { include_usage: true } },
	messages: { thinking: { type: 'adaptive' } },
};

describe.each(readRecordings('gemini'))('$name', (recording) => {
	const short = recording.name.slice('gemini/'.length, -'.json'.length);
	test.each(translations.filter(({ provider }) => provider === 'gemini').map((one) => [one.caller, one] as const))(
		'for %s',
		async (caller, translation) => {
			const call = callOf(requests[caller] ?? {});
			const { response } = recording;
			if (response.sse !== undefined) {
				const stream = translateBytes(translation, call);
				const reported = Buffer.concat([stream.push(recordedBytes(recording)), stream.end()]).toString();
				expect([stream.isTerminated, stream.hasFailed]).toEqual([true, false]);
				await expectFile(reported, `recorded-gemini/${short}.${caller}.txt`);
				return;
			}
			const body = response.json as JsonObject;
			const reported =
				response.status === 200 ? translation.translateResponse(body, call) : translation.translateError(response.status, body, call);
			await expectFile(written(reported), `recorded-gemini/${short}.${caller}.json`);
		},
	);
});

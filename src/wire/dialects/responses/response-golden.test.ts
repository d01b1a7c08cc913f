/** Recorded responses as clients of another dialect receive them: readable as files. */

import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { translateBytes } from '../../../../test/support/byte-translation.ts';
import { readRecordings, recordedBytes } from '../../../../test/support/recordings.ts';
import type { ResponseContext } from '../../conversation/response.ts';
import { type ResponseTranslation, translateResponses } from '../../conversation/translation.ts';
import type { JsonObject } from '../../json/parse-body.ts';
import { chatReading } from '../chat/response-reader.ts';
import { chatWriting } from '../chat/response-writer.ts';
import { geminiReading } from '../gemini/response-reader.ts';
import { messagesReading } from '../messages/response-reader.ts';
import { messagesWriting } from '../messages/response-writer.ts';
import { responsesReading } from './response-reader.ts';
import { responsesWriting } from './response-writer.ts';

const folder = new URL('../../../../test/fixtures/translation/recorded-responses/', import.meta.url);

const requests: Readonly<Record<string, JsonObject>> = {
	chat: { stream_options: { include_usage: true } },
	messages: { thinking: { type: 'adaptive' } },
	responses: { model: 'alias', instructions: 'Be brief.', reasoning: { effort: 'low' }, metadata: { project: 'a' } },
};

const fromResponses: readonly string[] = [
	'reasoning-summary',
	'service-tier',
	'text-stream',
	'tool-call',
	'tool-no-args-stream',
	'v-custom-tool-stream',
	'v-error-400-temperature',
	'v-error-quota-stream',
	'v-phase-stream',
	'v-reasoning-encrypted',
	'v-reasoning-encrypted-stream',
	'v-web-search',
];

const toResponses = [
	['openai', chatReading, ['refusal', 'service-tier', 'tool-parallel', 'tool-parallel-stream', 'v-error-400-max-tokens']],
	['anthropic', messagesReading, ['thinking', 'thinking-stream', 'tools-parallel-stream', 'v-refusal-stream']],
	['gemini', geminiReading, ['error-429', 'thinking-stream', 'tool-call', 'tool-call-stream']],
] as const;

type Case = readonly [name: string, folder: string, client: string, translation: ResponseTranslation];

const cases: readonly Case[] = [
	...fromResponses.flatMap((name): Case[] => [
		[name, 'responses', 'chat', translateResponses(responsesReading, chatWriting)],
		[name, 'responses', 'messages', translateResponses(responsesReading, messagesWriting)],
	]),
	...toResponses.flatMap(([provider, reading, names]) =>
		names.map((name): Case => [name, provider, 'responses', translateResponses(reading, responsesWriting)]),
	),
];

const recordings = new Map(['responses', 'openai', 'anthropic', 'gemini'].flatMap(readRecordings).map((one) => [one.name, one]));

test.each(cases)('%s of %s for %s', async (name, provider, client, translation) => {
	const recording = recordings.get(`${provider}/${name}.json`);
	if (recording === undefined) throw new Error(`no recording ${provider}/${name}`);
	const { response } = recording;
	const call: ResponseContext = {
		request: requests[client] ?? {},
		model: 'alias',
		requestId: 'req_1',
		nowSeconds: 1_790_000_000,
		encryption: { encrypt: (text) => `encrypted(${text})`, decrypt: () => undefined },
	};
	const expectFile = async (value: string, extension: string): Promise<void> => {
		const file = new URL(`${provider}.${name}.${client}.${extension}`, folder);
		expect(existsSync(file)).toBe(true);
		await expect(value).toMatchFileSnapshot(file.pathname);
	};
	if (response.sse !== undefined) {
		const stream = translateBytes(translation, call);
		const reported = Buffer.concat([stream.push(recordedBytes(recording)), stream.end()]).toString();
		expect([stream.isTerminated, stream.hasFailed]).toEqual(name.includes('error') ? [false, true] : [true, false]);
		return expectFile(reported, 'txt');
	}
	const body = response.json as JsonObject;
	const reported =
		response.status === 200 ? translation.translateResponse(body, call) : translation.translateError(response.status, body, call);
	return expectFile(`${JSON.stringify(reported, undefined, '\t')}\n`, 'json');
});

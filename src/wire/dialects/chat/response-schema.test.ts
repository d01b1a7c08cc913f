/** Every recorded response of another vendor, as clients of chat completions receive it, matches OpenAI's published schema. */

import { describe, expect, test } from 'vitest';
import { translateBytes } from '../../../../test/support/byte-translation.ts';
import { chatChunkSchema, chatCompletionSchema } from '../../../../test/support/chat-response-schema.ts';
import { type Recording, readRecordings, recordedBytes } from '../../../../test/support/recordings.ts';
import { chatToGemini, chatToMessages, type Translation } from '../../../../test/support/translations.ts';
import type { ResponseContext } from '../../conversation/response.ts';
import type { JsonObject } from '../../json/parse-body.ts';

const requests: readonly JsonObject[] = [
	{},
	{ stream_options: { include_usage: true } },
	{ functions: [{ name: 'f' }], stream_options: { include_usage: true } },
];
const callOf = (request: JsonObject): ResponseContext => ({ request, model: 'alias', requestId: 'req_1', nowSeconds: 1_790_000_000 });
const recorded: [string, Recording, Translation][] = [
	...readRecordings('anthropic').map((one): [string, Recording, Translation] => [one.name, one, chatToMessages]),
	...readRecordings('gemini').map((one): [string, Recording, Translation] => [one.name, one, chatToGemini]),
];

function chunksOf(translation: Translation, recording: Recording, request: JsonObject): JsonObject[] {
	const stream = translateBytes(translation, callOf(request));
	const text = Buffer.concat([stream.push(recordedBytes(recording)), stream.end()]).toString();
	return [...text.matchAll(/^data: (\{.*)$/gm)].map(([, json]) => JSON.parse(json ?? '') as JsonObject);
}

describe.each(recorded.filter(([, { response }]) => response.status === 200))('%s', (_name, recording, translation) => {
	test.each(requests)('for %j', (request) => {
		if (recording.response.sse === undefined) {
			const response = JSON.parse(
				JSON.stringify(translation.translateResponse(recording.response.json as JsonObject, callOf(request))),
			) as unknown;
			expect(chatCompletionSchema.parse(response)).toEqual(response);
			return;
		}
		const chunks = chunksOf(translation, recording, request);
		for (const chunk of chunks) expect(chatChunkSchema.parse(chunk)).toEqual(chunk);
		expect(new Set(chunks.map(({ id, created, model }) => JSON.stringify([id, created, model]))).size).toBe(1);
		expect(chunks.filter(({ usage }) => usage !== undefined && usage !== null)).toHaveLength(
			request['stream_options'] === undefined ? 0 : 1,
		);
	});
});

/** Gemini's recorded responses as the clients' own SDKs read them, both major versions of each. */

import { describe, expect, test } from 'vitest';
import { translateBytes } from '../../../../test/support/byte-translation.ts';
import { type Recording, readRecordings, recordedBytes } from '../../../../test/support/recordings.ts';
import { anthropicLines, openAiLines } from '../../../../test/support/sdk-lines.ts';
import { chatToGemini, messagesToGemini, type Translation } from '../../../../test/support/translations.ts';
import type { ResponseContext } from '../../conversation/response.ts';
import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';

const recordings = readRecordings('gemini');
const responses = recordings.filter(({ response }) => response.status === 200).map((one) => [one.name, one] as const);
const callOf = (request: JsonObject): ResponseContext => ({ request, model: 'alias', requestId: 'req_1', nowSeconds: 1_790_000_000 });
const chatRequest = { model: 'alias', messages: [{ role: 'user' as const, content: 'Hi' }] };
const messagesRequest = { model: 'alias', max_tokens: 100, messages: [{ role: 'user' as const, content: 'Hi' }] };

function respond(translation: Translation, { response, ...recording }: Recording, request: JsonObject): Response {
	const call = callOf(request);
	if (response.sse === undefined) return Response.json(translation.translateResponse(response.json as JsonObject, call));
	const stream = translateBytes(translation, call);
	const bytes = Buffer.concat([stream.push(recordedBytes({ ...recording, response })), stream.end()]);
	return new Response(new Uint8Array(bytes), { headers: { 'content-type': 'text/event-stream' } });
}

interface Said {
	readonly text: string;
	readonly names: readonly unknown[];
	readonly inputs: readonly unknown[];
	readonly output: number;
}

/** Reads the recording without the code under test. */
function saidIn({ response }: Recording): Said {
	const list =
		response.sse === undefined
			? [response.json]
			: [...response.sse.matchAll(/^data: (\{.*)$/gm)].map(([, json]) => JSON.parse(json ?? '') as unknown);
	const parts = list.flatMap((one) => (one as { candidates: { content: { parts?: JsonObject[] } }[] }).candidates[0]?.content.parts ?? []);
	const calls = parts.flatMap(({ functionCall }) => (isJsonObject(functionCall) ? [functionCall] : []));
	const { usageMetadata } = list.at(-1) as { usageMetadata: { totalTokenCount: number; promptTokenCount: number } };
	const pieces = calls
		.map(({ partialArgs }) => (partialArgs as { jsonPath: string; stringValue: string }[] | undefined)?.[0])
		.filter((one) => one !== undefined);
	const places = pieces.filter(({ stringValue }) => stringValue !== '').map(({ stringValue }) => ({ location: stringValue }));
	return {
		text: parts.map(({ text = '' }) => text).join(''),
		names: calls.flatMap(({ name }) => (name === undefined ? [] : [name])),
		inputs: [...calls.flatMap(({ args }) => (args === undefined ? [] : [args])), ...places],
		output: usageMetadata.totalTokenCount - usageMetadata.promptTokenCount,
	};
}

describe.each(openAiLines)('%s', (_line, Client) => {
	test.each(responses)('%s', async (_name, recording) => {
		const request = { ...chatRequest, stream_options: { include_usage: true } };
		const client = new Client({
			apiKey: 'key',
			baseURL: 'http://gateway.test/v1',
			maxRetries: 0,
			fetch: async () => respond(chatToGemini, recording, request),
		});
		const isStream = recording.response.sse !== undefined;
		const { choices, usage } = isStream
			? await client.chat.completions.stream(request).finalChatCompletion()
			: await client.chat.completions.create(chatRequest);
		const [choice] = choices;
		const calls = choice?.message.tool_calls?.map((call) => (call.type === 'function' ? call.function : undefined)) ?? [];
		expect({
			text: choice?.message.content ?? '',
			names: calls.map((call) => call?.name),
			inputs: calls.map((call): unknown => JSON.parse(call?.arguments ?? '')),
			output: usage?.completion_tokens,
		}).toEqual(saidIn(recording));
		expect(choice?.finish_reason).toBe(calls.length > 0 ? 'tool_calls' : 'stop');
	});
});

describe.each(anthropicLines)('%s', (_line, Client) => {
	test.each(responses)('%s', async (_name, recording) => {
		const client = new Client({
			apiKey: 'key',
			baseURL: 'http://gateway.test',
			maxRetries: 0,
			fetch: async () => respond(messagesToGemini, recording, {}),
		});
		const isStream = recording.response.sse !== undefined;
		const message = isStream ? await client.messages.stream(messagesRequest).finalMessage() : await client.messages.create(messagesRequest);
		const uses = message.content.filter((block) => block.type === 'tool_use');
		expect({
			text: message.content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
			names: uses.map(({ name }) => name),
			inputs: uses.map(({ input }) => input),
			output: message.usage.output_tokens,
		}).toEqual(saidIn(recording));
		expect(message.stop_reason).toBe(uses.length > 0 ? 'tool_use' : 'end_turn');
	});
});

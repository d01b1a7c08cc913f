/** Clients of the Responses API whose provider has another dialect: both OpenAI SDKs and Vercel's AI SDK. */

import { createOpenAI } from '@ai-sdk/openai';
import { generateText, streamText } from 'ai';
import OpenAI from 'openai';
import { describe, expect, test } from 'vitest';
import { translateBytes } from '../../../../test/support/byte-translation.ts';
import { type Recording, readRecordings, recordedBytes } from '../../../../test/support/recordings.ts';
import { openAiLines } from '../../../../test/support/sdk-lines.ts';
import type { ResponseContext, ResponseReading } from '../../conversation/response.ts';
import { translateResponses } from '../../conversation/translation.ts';
import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';
import { chatReading } from '../chat/response-reader.ts';
import { geminiReading } from '../gemini/response-reader.ts';
import { messagesReading } from '../messages/response-reader.ts';
import { responsesWriting } from './response-writer.ts';

const request: JsonObject = { model: 'alias', input: 'Hello', tools: [{ type: 'custom', name: 'execute' }], metadata: { a: 'b' } };
const call: ResponseContext = {
	request,
	model: 'alias',
	requestId: 'req_1',
	nowSeconds: 1_790_000_000,
	encryption: { encrypt: (text) => Buffer.from(text).toString('base64url'), decrypt: () => undefined },
};

const readings: readonly (readonly [folder: string, ResponseReading])[] = [
	['openai', chatReading],
	['anthropic', messagesReading],
	['gemini', geminiReading],
];
const recorded = readings.flatMap(([folder, reading]) =>
	readRecordings(folder)
		.filter(({ name, response }) => response.status === 200 && !name.includes('v-compat'))
		.map((one) => [one.name, one, translateResponses(reading, responsesWriting)] as const),
);

type Translation = (typeof recorded)[number][2];

function streamOf(translation: Translation, recording: Recording): string {
	const stream = translateBytes(translation, call);
	return Buffer.concat([stream.push(recordedBytes(recording)), stream.end()]).toString();
}

function respond(translation: Translation, recording: Recording): Response {
	const { sse, json } = recording.response;
	if (sse === undefined) return Response.json(translation.translateResponse(json as JsonObject, call));
	return new Response(streamOf(translation, recording), { headers: { 'content-type': 'text/event-stream' } });
}

interface Said {
	readonly status: unknown;
	readonly text: string;
	/** The AI SDK shows it as text. */
	readonly refusal: string;
	readonly calls: readonly unknown[];
	readonly tokens: unknown;
}

/** Returns the content of the last event or of the body, without an SDK. */
function saidIn(translation: Translation, recording: Recording): Said {
	const { sse, json } = recording.response;
	const last =
		sse === undefined
			? { response: translation.translateResponse(json as JsonObject, call) }
			: (JSON.parse(/.*data: (.*)\n\n$/.exec(streamOf(translation, recording))?.[1] ?? '') as JsonObject);
	const { status, output, usage } = last.response as { status: string; output: JsonObject[]; usage: JsonObject };
	const parts = output.flatMap(({ content }) => (Array.isArray(content) ? content.filter(isJsonObject) : []));
	return {
		status,
		text: parts.map(({ text }) => (typeof text === 'string' ? text : '')).join(''),
		refusal: parts.map(({ refusal }) => (typeof refusal === 'string' ? refusal : '')).join(''),
		calls: output.flatMap(({ type, name, arguments: args }) => (type === 'function_call' ? [[name, JSON.parse(String(args))]] : [])),
		tokens: usage.output_tokens,
	};
}

describe.each(openAiLines)('%s', (_line, Client) => {
	test.each(recorded)('%s', async (_name, recording, translation) => {
		const client = new Client({ apiKey: 'key', baseURL: 'http://gateway.test/v1', fetch: async () => respond(translation, recording) });
		const asked = { model: 'alias', input: 'Hello' };
		const isStream = recording.response.sse !== undefined;
		const response = isStream ? await client.responses.stream(asked).finalResponse() : await client.responses.create(asked);
		const calls = response.output.flatMap((item) => (item.type === 'function_call' ? [[item.name, JSON.parse(item.arguments)]] : []));
		const { status, output_text: text, usage } = response;
		const { refusal: _notInText, ...said } = saidIn(translation, recording);
		expect({ status, text, calls, tokens: usage?.output_tokens }).toEqual(said);
	});
});

test.each(recorded)('openai 7 assembles from the events what the last event contains: %s', async (_name, recording, translation) => {
	if (recording.response.sse === undefined) return;
	const text = streamOf(translation, recording);
	const complete = JSON.parse(/.*data: (.*)\n\n$/.exec(text)?.[1] ?? '') as { response: { output: readonly unknown[] } };
	// Without the last event, the output comes from the deltas.
	const cut = text.slice(0, text.lastIndexOf('event: '));
	const body = (): Response => new Response(cut, { headers: { 'content-type': 'text/event-stream' } });
	const client = new OpenAI({ apiKey: 'key', baseURL: 'http://gateway.test/v1', fetch: async () => body() });
	const { output } = await client.responses.stream({ model: 'alias', input: 'Hello' }).finalResponse();
	expect(JSON.parse(JSON.stringify(output).replaceAll(/,"parsed(?:_arguments)?":null/g, ''))).toEqual(complete.response.output);
});

test.each(recorded)('AI SDK: %s', async (_name, recording, translation) => {
	const openai = createOpenAI({ apiKey: 'key', baseURL: 'http://gateway.test/v1', fetch: async () => respond(translation, recording) });
	const asked = { model: openai.responses('alias'), prompt: 'Hello', maxRetries: 0 };
	const isStream = recording.response.sse !== undefined;
	const errors: unknown[] = [];
	const result = isStream ? streamText({ ...asked, onError: ({ error }) => void errors.push(error) }) : await generateText(asked);
	const { text, refusal, tokens } = saidIn(translation, recording);
	expect([await result.text, (await result.usage).outputTokens, errors]).toEqual([text + refusal, tokens, []]);
});

/** A stream of Gemini's with tool calls, assembled by the client's own SDK, equals the non-streaming response. */

import type Anthropic from '@anthropic-ai/sdk';
import { MessageStream } from '@anthropic-ai/sdk/lib/MessageStream';
import { ChatCompletionStream } from 'openai/lib/ChatCompletionStream';
import { describe, expect, test } from 'vitest';
import { translateBytes } from '../../../../test/support/byte-translation.ts';
import { readRecordings } from '../../../../test/support/recordings.ts';
import {
	chatToGemini,
	chatToGeminiOpenai,
	messagesToGemini,
	messagesToGeminiOpenai,
	type Translation,
} from '../../../../test/support/translations.ts';
import type { ResponseContext } from '../../conversation/response.ts';
import type { JsonObject } from '../../json/parse-body.ts';

const usageMetadata = { promptTokenCount: 9, candidatesTokenCount: 7, thoughtsTokenCount: 3, totalTokenCount: 19 };
const call = (name: string, args: JsonObject, more: JsonObject = {}): JsonObject => ({ functionCall: { name, args }, ...more });
const signed = { thoughtSignature: 'c2ln' };

/** Parts of one candidate, in the pieces of a stream. */
const native: readonly (readonly [string, readonly (readonly JsonObject[])[]])[] = [
	['one call', [[call('f', { a: 1 }, signed)], [{ text: '' }]]],
	['two calls at once', [[call('f', { a: 1 }, signed), call('g', {})]]],
	['two calls one after the other', [[call('f', { a: 1 }, signed)], [call('g', { b: [2] })], []]],
	['a call of the same tool again', [[call('f', { a: 1 })], [call('f', { a: 1 })]]],
	['a call with an id of its own', [[{ functionCall: { id: 'own', name: 'f', args: {} } }]]],
	['thoughts, then a call', [[{ text: 'Hm', thought: true }], [call('f', {}, signed)]]],
	['a text, then a call', [[{ text: 'I will ' }], [{ text: 'look.' }, call('f', {})]]],
	['a call, then a text', [[call('f', {})], [{ text: 'Wait.' }]]],
	['thoughts alone', [[{ text: 'Hm', thought: true }]]],
	['a text', [[{ text: 'Hel' }], [{ text: 'lo' }]]],
	['nothing', [[]]],
];

const candidate = (parts: readonly JsonObject[], isLast: boolean): JsonObject => ({
	candidates: [{ content: { role: 'model', parts }, index: 0, ...(isLast && { finishReason: 'STOP' }) }],
	usageMetadata,
	modelVersion: 'gemini-x',
	responseId: 'r1',
});

const toolCall = (name: string, more: JsonObject = {}): JsonObject => ({
	function: { name, arguments: '{"a":1}' },
	type: 'function',
	...more,
});
const extra = { extra_content: { google: { thought_signature: 'c2ln' } } };

/** The message of Google's layer for chat completions, and the deltas of its stream. */
const layered: readonly (readonly [string, JsonObject, readonly JsonObject[]])[] = [
	['one call without an id', { tool_calls: [toolCall('f', extra)] }, [{ role: 'assistant', tool_calls: [toolCall('f', extra)] }, {}]],
	[
		'two calls with empty ids',
		{ tool_calls: [toolCall('f', { id: '' }), toolCall('g', { id: '' })] },
		[{ role: 'assistant', tool_calls: [toolCall('f', { id: '' })] }, { tool_calls: [toolCall('g', { id: '' })] }],
	],
	['a call with its id, no role', { tool_calls: [toolCall('f', { id: 'own' })] }, [{ tool_calls: [toolCall('f', { id: 'own' })] }]],
	[
		'a text, then a call',
		{ content: 'So: ', tool_calls: [toolCall('f')] },
		[{ role: 'assistant', content: 'So' }, { content: ': ' }, { tool_calls: [toolCall('f')] }],
	],
];

const tools = ['f', 'g', 'weather'].map((name) => ({ type: 'function', function: { name, parameters: { type: 'object' } } }));
const callOf = (more: JsonObject = {}): ResponseContext => ({
	request: { tools, ...more },
	model: 'alias',
	requestId: 'req_1',
	nowSeconds: 1,
});

function streamOf(translation: Translation, chunks: readonly JsonObject[], reported: ResponseContext): ReadableStream {
	const stream = translateBytes(translation, reported);
	const text = Buffer.concat([...chunks.map((chunk) => stream.push(Buffer.from(`data: ${JSON.stringify(chunk)}\n\n`))), stream.end()]);
	const events = [...text.toString().matchAll(/^data: (\{.*)$/gm)].map(([, json]) => `${json ?? ''}\n`);
	return new Blob(events).stream();
}

async function streamedChat(translation: Translation, chunks: readonly JsonObject[]): Promise<unknown> {
	let content: string | null = null;
	const stream = ChatCompletionStream.fromReadableStream(streamOf(translation, chunks, callOf()));
	// The SDK turns an empty text into null, too; others do not.
	stream.on('chunk', ({ choices: [choice] }) => {
		if (typeof choice?.delta.content === 'string') content = (content ?? '') + choice.delta.content;
	});
	const { choices } = await stream.finalChatCompletion();
	return choices.map(({ index, message: { parsed: _none, ...message }, finish_reason }) => ({
		index,
		message: { ...message, content },
		finish_reason,
	}));
}

function nonStreamingChat(translation: Translation, body: JsonObject): unknown {
	const { choices } = translation.translateResponse(body, callOf()) as { choices: readonly JsonObject[] };
	return choices.map(({ index, message, finish_reason }) => ({ index, message, finish_reason }));
}

async function streamedMessage(translation: Translation, chunks: readonly JsonObject[]): Promise<unknown> {
	const reported = callOf({ thinking: { type: 'adaptive' } });
	const { content, stop_reason } = await MessageStream.fromReadableStream(streamOf(translation, chunks, reported)).finalMessage();
	return { content, stop_reason };
}

function nonStreamingMessage(translation: Translation, body: JsonObject): unknown {
	const { content, stop_reason } = translation.translateResponse(
		body,
		callOf({ thinking: { type: 'adaptive' } }),
	) as unknown as Anthropic.Message;
	return { content, stop_reason };
}

describe('generateContent', () => {
	const recorded = readRecordings('gemini').flatMap(({ name, response: { sse } }) => {
		const pieces = [...(sse ?? '').matchAll(/^data: (\{.*)$/gm)].map(
			([, json]) =>
				(JSON.parse(json ?? '') as { candidates: { content?: { parts?: JsonObject[] } }[] }).candidates[0]?.content?.parts ?? [],
		);
		// Only streams contain arguments in pieces.
		return sse === undefined || sse.includes('partialArgs') ? [] : [[name, pieces] as const];
	});

	test.each([...native, ...recorded])('%s', async (_what, pieces) => {
		const chunks = pieces.map((parts, at) => candidate(parts, at === pieces.length - 1));
		const whole = candidate(pieces.flat(), true);
		expect(await streamedChat(chatToGemini, chunks)).toEqual(nonStreamingChat(chatToGemini, whole));
		expect(await streamedMessage(messagesToGemini, chunks)).toEqual(nonStreamingMessage(messagesToGemini, whole));
	});
});

describe('Google’s layer for chat completions', () => {
	test.each(layered)('%s', async (_what, message, deltas) => {
		const head = { id: 'x', object: 'chat.completion', created: 1, model: 'm' };
		const whole = { ...head, choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: 'tool_calls' }] };
		const chunks = deltas.map((delta, at) => ({
			...head,
			choices: [{ index: 0, delta, ...(at === deltas.length - 1 && { finish_reason: 'stop' }) }],
		}));
		expect(await streamedChat(chatToGeminiOpenai, chunks)).toEqual(nonStreamingChat(chatToGeminiOpenai, whole));
		expect(await streamedMessage(messagesToGeminiOpenai, chunks)).toEqual(nonStreamingMessage(messagesToGeminiOpenai, whole));
	});
});

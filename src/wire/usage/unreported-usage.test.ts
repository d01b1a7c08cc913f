/** Responses whose provider reports zeros, or no usage, are not free. */

import { describe, expect, it } from 'vitest';
import { eventsIn } from '../../../test/support/byte-translation.ts';
import { type MeteredUsage, meterResponse, readReportedUsage, UsageMeter } from './usage-meter.ts';
import { chatUsage, geminiUsage, messagesUsage, type UsageReader } from './usage-reader.ts';

const text = 'x'.repeat(3000);
const inputTokens = 9;

const chat = (message: object, usage?: unknown): object => ({ choices: [{ message }], usage });
const message = (block: object, usage?: unknown): object => ({ type: 'message', content: [block], usage });
const gemini = (part: object, usageMetadata?: unknown): object => ({ candidates: [{ content: { parts: [part] } }], usageMetadata });

function figures({ usage, isEstimated }: MeteredUsage): string {
	const { inputTokens: input, cacheReadTokens, outputTokens } = usage;
	return `${isEstimated ? '~' : ''}${input} ${cacheReadTokens} ${outputTokens}`;
}

function whole(reader: UsageReader, response: object): string {
	const body = Buffer.from(JSON.stringify(response));
	return figures(meterResponse(body, readReportedUsage(body, reader).usage, reader, inputTokens));
}

function streamed(reader: UsageReader, events: readonly object[]): string {
	const meter = new UsageMeter(reader, { estimatedInputTokens: inputTokens, isUsageInjected: false });
	for (const event of events) meter.push(eventsIn(`data: ${JSON.stringify(event)}\n\n`));
	return figures(meter.read());
}

const toolCall = { content: null, tool_calls: [{ function: { name: 'f', arguments: text } }] };
const toolUse = { type: 'tool_use', id: 'a', name: 'f', input: { text, more: { usage: {} } } };

describe('a non-streaming response', () => {
	it.each<[string, UsageReader, object, string]>([
		['chat: zeros', chatUsage, chat({ content: text }, { prompt_tokens: 0, completion_tokens: 0 }), '~9 0 1000'],
		['chat: no output', chatUsage, chat({ content: text }, { prompt_tokens: 5, completion_tokens: 0 }), '~5 0 1000'],
		['chat: no input', chatUsage, chat({ content: text }, { prompt_tokens: 0, completion_tokens: 7 }), '~9 0 7'],
		['chat: no output of a tool', chatUsage, chat(toolCall, { prompt_tokens: 5, completion_tokens: 0 }), '~5 0 1000'],
		['chat: nothing written', chatUsage, chat({ content: '' }, { prompt_tokens: 5, completion_tokens: 0 }), '5 0 0'],
		[
			'chat: input from a cache alone',
			chatUsage,
			chat({ content: text }, { prompt_tokens: 5, completion_tokens: 7, prompt_tokens_details: { cached_tokens: 5 } }),
			'0 5 7',
		],
		['messages: zeros', messagesUsage, message({ type: 'text', text }, { input_tokens: 0, output_tokens: 0 }), '~9 0 1000'],
		['messages: no output of a tool', messagesUsage, message(toolUse, { input_tokens: 5, output_tokens: 0 }), '~5 0 1010'],
		['messages: nothing told of a tool', messagesUsage, message(toolUse), '~9 0 1010'],
		['messages: nothing written', messagesUsage, message({ type: 'text', text: '' }, { input_tokens: 5, output_tokens: 0 }), '5 0 0'],
		[
			'messages: input from a cache alone',
			messagesUsage,
			message({ type: 'text', text }, { input_tokens: 0, cache_read_input_tokens: 5, output_tokens: 7 }),
			'0 5 7',
		],
		['Gemini: zeros', geminiUsage, gemini({ text }, { promptTokenCount: 0, candidatesTokenCount: 0 }), '~9 0 1000'],
		['Gemini: neither candidates nor a total', geminiUsage, gemini({ text }, { promptTokenCount: 5 }), '~5 0 1000'],
		['Gemini: less than none', geminiUsage, gemini({ text }, { promptTokenCount: 5, candidatesTokenCount: -7 }), '~5 0 1000'],
		['Gemini: a tool', geminiUsage, gemini({ functionCall: { name: 'f', args: { a: text } } }, { promptTokenCount: 5 }), '~5 0 1002'],
		['Gemini: an image', geminiUsage, gemini({ inlineData: { data: 'A'.repeat(1_290_000) } }, { promptTokenCount: 5 }), '~5 0 1290'],
		['Gemini: nothing written', geminiUsage, gemini({}, { promptTokenCount: 5 }), '5 0 0'],
		['Gemini: a total', geminiUsage, gemini({ text }, { promptTokenCount: 5, totalTokenCount: 12 }), '5 0 7'],
	])('%s', (_name, reader, response, expected) => {
		expect(whole(reader, response)).toBe(expected);
	});
});

const chunk = (delta: object, usage?: unknown): object => ({ choices: [{ delta }], usage });

describe('a stream', () => {
	const zeros = { prompt_tokens: 0, completion_tokens: 0 };
	it.each<[string, UsageReader, object[], string]>([
		['chat: zeros at the beginning', chatUsage, [chunk({ content: '' }, zeros), chunk({ content: text })], '~9 0 1000'],
		['chat: zeros at the end', chatUsage, [chunk({ content: text }), chunk({}, zeros)], '~9 0 1000'],
		[
			'chat: zeros until the end',
			chatUsage,
			[chunk({ content: text }, zeros), chunk({ content: text }, zeros), chunk({}, { prompt_tokens: 5, completion_tokens: 7 })],
			'5 0 7',
		],
		[
			'chat: a count that is taken back',
			chatUsage,
			[chunk({ content: text }, { prompt_tokens: 5, completion_tokens: 800 }), chunk({}, { prompt_tokens: 5, completion_tokens: 0 })],
			'~5 0 800',
		],
		['chat: nothing written', chatUsage, [chunk({ content: '' }), chunk({}, { prompt_tokens: 5, completion_tokens: 0 })], '5 0 0'],
		[
			'messages: zeros',
			messagesUsage,
			[
				{ type: 'message_start', message: { usage: { input_tokens: 0, output_tokens: 0 } } },
				{ type: 'content_block_start', content_block: { type: 'tool_use', input: {} } },
				{ type: 'content_block_delta', delta: { partial_json: text } },
				{ type: 'message_delta', usage: { output_tokens: 0 } },
			],
			'~9 0 1000',
		],
		['Gemini: zeros', geminiUsage, [gemini({ text }, { promptTokenCount: 0 }), gemini({}, { promptTokenCount: 0 })], '~9 0 1000'],
		[
			'Gemini: the prompt alone, then all',
			geminiUsage,
			[gemini({ text }, { promptTokenCount: 5 }), gemini({}, { promptTokenCount: 5, candidatesTokenCount: 7 })],
			'5 0 7',
		],
		[
			'chat: speech, a second and a word of it',
			chatUsage,
			[
				chunk({ content: null, audio: { id: 'a', transcript: 'hello ' } }),
				chunk({ audio: { data: 'QUJD'.repeat(16_000) } }),
				chunk({ audio: { expires_at: 1 } }),
			],
			'~9 0 66',
		],
	])('%s', (_name, reader, events, expected) => {
		expect(streamed(reader, events)).toBe(expected);
	});
});

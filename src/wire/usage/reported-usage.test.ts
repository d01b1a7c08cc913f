import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { workedMs } from '../../../test/support/cpu-ms.ts';
import { readRecordings, recordedBytes } from '../../../test/support/recordings.ts';
import type { Usage } from '../../core/usage.ts';
import { EventBatch } from '../events/event-batch.ts';
import type { ToolCallReader } from './tool-call-reader.ts';
import { readReportedUsage, UsageMeter } from './usage-meter.ts';
import {
	chatUsage,
	embeddingsUsage,
	geminiEmbeddingsUsage,
	geminiUsage,
	messagesUsage,
	type UsageReader,
	usageOfChat,
	usageOfGemini,
	usageOfMessages,
} from './usage-reader.ts';

/** Input, cache read, cache write, one-hour part of it, output, reasoning part of it. */
type Measurements = readonly [number, number, number, number, number, number];

function figures(usage: Usage | undefined): Measurements | undefined {
	if (usage === undefined) return undefined;
	const { inputTokens, cacheReadTokens, cacheWriteTokens, cacheWriteHourTokens, outputTokens, reasoningTokens } = usage;
	return [inputTokens, cacheReadTokens, cacheWriteTokens, cacheWriteHourTokens, outputTokens, reasoningTokens];
}

const readers: Readonly<Record<string, UsageReader>> = {
	openai: chatUsage,
	azure: chatUsage,
	anthropic: messagesUsage,
	gemini: geminiUsage,
};

const recorded: Readonly<Record<string, Measurements | undefined>> = {
	'anthropic/cache-read.json': [4, 1163, 0, 0, 202, 0],
	'anthropic/cache-write.json': [4, 0, 1163, 0, 187, 0],
	'anthropic/image.json': [1381, 0, 0, 0, 68, 0],
	'anthropic/structured-output.json': [222, 0, 0, 0, 39, 0],
	'anthropic/text.json': [17, 0, 0, 0, 220, 0],
	'anthropic/thinking.json': [52, 0, 0, 0, 215, 0],
	'anthropic/tool-result-error.json': [471, 0, 0, 0, 66, 0],
	'anthropic/tool-result.json': [568, 0, 0, 0, 58, 0],
	'anthropic/tools-parallel.json': [514, 0, 0, 0, 152, 0],
	'anthropic/v-refusal.json': [18, 0, 0, 0, 5, 0],
	'anthropic/v-text.json': [12, 0, 0, 0, 29, 0],
	'anthropic/v-thinking-opus5.json': [51, 0, 0, 0, 1699, 139],
	'anthropic/v-web-fetch-error.json': [1902, 0, 0, 0, 214, 0],
	'azure/content-filter.json': [15, 0, 0, 0, 19, 0],
	'azure/error-404-deployment.json': undefined,
	'azure/reasoning.json': [11, 0, 0, 0, 203, 192],
	'azure/text.json': [16, 0, 0, 0, 35, 0],
	'gemini/error-429.json': undefined,
	'gemini/text.json': [9, 0, 0, 0, 272, 244],
	'gemini/thinking.json': [9, 0, 0, 0, 287, 258],
	'gemini/tool-call.json': [29, 0, 0, 0, 908, 893],
	'openai/cached-tokens.json': [125, 1024, 0, 0, 353, 0],
	'openai/error-400-image-format.json': undefined,
	'openai/error-400-image-url.json': undefined,
	'openai/error-404-model.json': undefined,
	'openai/image-url-length.json': [438, 0, 0, 0, 16, 0],
	'openai/json-schema.json': [83, 0, 0, 0, 32, 0],
	'openai/legacy-function-call.json': [82, 0, 0, 0, 16, 0],
	'openai/n2.json': [11, 0, 0, 0, 26, 0],
	'openai/reasoning.json': [11, 0, 0, 0, 228, 192],
	'openai/refusal.json': [65, 0, 0, 0, 13, 0],
	'openai/service-tier.json': [8, 0, 0, 0, 82, 64],
	'openai/text.json': [15, 0, 0, 0, 19, 0],
	'openai/tool-parallel.json': [70, 0, 0, 0, 46, 0],
	'openai/tool-result.json': [40, 0, 0, 0, 13, 0],
	'openai/v-error-400-max-tokens.json': undefined,
};

describe('the usage of each recorded response', () => {
	const whole = ['anthropic', 'azure', 'gemini', 'openai'].flatMap(readRecordings).filter(({ response }) => response.sse === undefined);

	it.each(whole)('$name', (recording) => {
		expect(Object.keys(recorded)).toContain(recording.name);
		const reader = readers[recording.name.split('/')[0] ?? ''] ?? chatUsage;
		expect(figures(readReportedUsage(recordedBytes(recording), reader).usage)).toEqual(recorded[recording.name]);
	});
});

describe('calls of hosted tools', () => {
	const usage = { input_tokens: 9, output_tokens: 3, server_tool_use: { web_search_requests: 2, web_fetch_requests: 5 } };
	const message = Buffer.from(JSON.stringify({ content: [], usage }));

	it('are in the usage of messages', () => {
		expect(readReportedUsage(message, messagesUsage).usage?.toolCalls).toEqual({ web_search: 2 });
		const none = Buffer.from(JSON.stringify({ usage: { ...usage, server_tool_use: { web_search_requests: 0 } } }));
		expect(readReportedUsage(none, messagesUsage).usage).not.toHaveProperty('toolCalls');
	});

	it('are read from the response for requests that offer them', () => {
		const toolCalls: ToolCallReader = {
			mark: 'unused',
			callIn: () => undefined,
			count: ({ searches }) => ({ web_search: Number(searches) }),
		};
		const reader: UsageReader = { ...messagesUsage, toolCalls };
		const body = Buffer.from(JSON.stringify({ searches: 4, usage }));
		expect(readReportedUsage(body, reader, true).usage?.toolCalls).toEqual({ web_search: 4 });
		expect(readReportedUsage(body, reader).usage?.toolCalls).toEqual({ web_search: 2 });
		const meter = new UsageMeter(reader, { estimatedInputTokens: 1, isUsageInjected: false, hasHostedTools: true });
		meter.push(EventBatch.ofTexts(['data: {"searches":1,"type":"x"}\n\n', `data: ${String(body)}\n\n`]));
		expect(meter.read().usage).toMatchObject({ inputTokens: 9, outputTokens: 3, toolCalls: { web_search: 4 } });
	});
});

describe('usage of chat completions', () => {
	it.each<[string, Record<string, unknown>, Measurements | undefined]>([
		[
			'includes cache reads and writes in the prompt',
			{ prompt_tokens: 100, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 30 } },
			[10, 60, 30, 0, 5, 0],
		],
		[
			'has cached tokens under an older name',
			{ prompt_tokens: 100, completion_tokens: 5, prompt_cache_hit_tokens: 60 },
			[40, 60, 0, 0, 5, 0],
		],
		['has thoughts in the total alone', { prompt_tokens: 35, completion_tokens: 12, total_tokens: 109 }, [35, 0, 0, 0, 74, 62]],
		[
			'has reasoning beside completion',
			{ prompt_tokens: 10, completion_tokens: 5, total_tokens: 315, completion_tokens_details: { reasoning_tokens: 300 } },
			[10, 0, 0, 0, 305, 300],
		],
		['has a total that is too small', { prompt_tokens: 10, completion_tokens: 5, total_tokens: 1 }, [10, 0, 0, 0, 5, 0]],
		['has no completion', { prompt_tokens: 10, total_tokens: 10 }, [10, 0, 0, 0, 0, 0]],
		[
			'has more cached than prompt',
			{ prompt_tokens: 10, completion_tokens: 0, prompt_tokens_details: { cached_tokens: 99, cache_write_tokens: 99 } },
			[0, 10, 0, 0, 0, 0],
		],
		[
			'has more reasoning than completion',
			{ prompt_tokens: 10, completion_tokens: 5, completion_tokens_details: { reasoning_tokens: 99 } },
			[10, 0, 0, 0, 5, 5],
		],
		[
			'has null details',
			{ prompt_tokens: 10, completion_tokens: 5, prompt_tokens_details: null, completion_tokens_details: null },
			[10, 0, 0, 0, 5, 0],
		],
		['has a negative prompt', { prompt_tokens: -10, completion_tokens: 5 }, undefined],
		['has a fractional completion', { prompt_tokens: 10, completion_tokens: 5.5 }, undefined],
		['has a prompt in quotes', { prompt_tokens: '10', completion_tokens: 5 }, undefined],
		['has a completion beyond any call', { prompt_tokens: 10, completion_tokens: 1e15 }, undefined],
		['has a total beyond any call', { prompt_tokens: 10, completion_tokens: 5, total_tokens: 1e15 }, [10, 0, 0, 0, 5, 0]],
		['is empty', {}, undefined],
	])('that %s', (_name, reported, expected) => {
		expect(figures(usageOfChat(reported))).toEqual(expected);
	});
});

describe('usage of messages', () => {
	it.each<[string, Record<string, unknown>, Measurements | undefined]>([
		[
			'tells of writes by lifetime',
			{
				input_tokens: 3,
				output_tokens: 5,
				cache_creation_input_tokens: 100,
				cache_read_input_tokens: 7,
				cache_creation: { ephemeral_5m_input_tokens: 40, ephemeral_1h_input_tokens: 60 },
			},
			[3, 7, 100, 60, 5, 0],
		],
		[
			'tells of writes by lifetime alone',
			{ input_tokens: 3, output_tokens: 5, cache_creation: { ephemeral_5m_input_tokens: 40, ephemeral_1h_input_tokens: 60 } },
			[3, 0, 100, 60, 5, 0],
		],
		[
			'has a longer lifetime than writes',
			{ input_tokens: 3, output_tokens: 5, cache_creation_input_tokens: 10, cache_creation: { ephemeral_1h_input_tokens: 60 } },
			[3, 0, 10, 10, 5, 0],
		],
		['has thinking', { input_tokens: 3, output_tokens: 50, output_tokens_details: { thinking_tokens: 20 } }, [3, 0, 0, 0, 50, 20]],
		[
			'has more thinking than output',
			{ input_tokens: 3, output_tokens: 5, output_tokens_details: { thinking_tokens: 20 } },
			[3, 0, 0, 0, 5, 5],
		],
		['has null counts', { input_tokens: 3, output_tokens: 5, cache_read_input_tokens: null, cache_creation: null }, [3, 0, 0, 0, 5, 0]],
		['has no input', { output_tokens: 5 }, undefined],
		['has a negative output', { input_tokens: 3, output_tokens: -5 }, undefined],
	])('that %s', (_name, reported, expected) => {
		expect(figures(usageOfMessages(reported))).toEqual(expected);
	});
});

describe('usage of Gemini', () => {
	it.each<[string, Record<string, unknown>, Measurements | undefined]>([
		[
			'has thoughts beside candidates',
			{ promptTokenCount: 9, candidatesTokenCount: 29, thoughtsTokenCount: 258, totalTokenCount: 296 },
			[9, 0, 0, 0, 287, 258],
		],
		['has only thoughts', { promptTokenCount: 9, thoughtsTokenCount: 258, totalTokenCount: 267 }, [9, 0, 0, 0, 258, 258]],
		[
			'has tools in the prompt',
			{ promptTokenCount: 9, toolUsePromptTokenCount: 20, candidatesTokenCount: 1, totalTokenCount: 30 },
			[29, 0, 0, 0, 1, 0],
		],
		['has a cached part', { promptTokenCount: 90, cachedContentTokenCount: 60, candidatesTokenCount: 1 }, [30, 60, 0, 0, 1, 0]],
		['tells of the kind of traffic alone', { trafficType: 'ON_DEMAND' }, undefined],
	])('that %s', (_name, reported, expected) => {
		expect(figures(usageOfGemini(reported))).toEqual(expected);
	});
});

describe('usage that is reported in bad faith', () => {
	const names = [
		'prompt_tokens',
		'completion_tokens',
		'total_tokens',
		'input_tokens',
		'output_tokens',
		'cache_creation_input_tokens',
		'cache_read_input_tokens',
		'promptTokenCount',
		'candidatesTokenCount',
		'thoughtsTokenCount',
		'totalTokenCount',
		'cachedContentTokenCount',
		'toolUsePromptTokenCount',
		'prompt_cache_hit_tokens',
	];
	const details = [
		'cached_tokens',
		'cache_write_tokens',
		'reasoning_tokens',
		'thinking_tokens',
		'ephemeral_1h_input_tokens',
		'ephemeral_5m_input_tokens',
	];
	const value = fc.oneof(
		fc.nat(100),
		fc.double(),
		fc.integer(),
		fc.maxSafeNat(),
		fc.string(),
		fc.constantFrom(null, true, [], {}, -0, 1e308, -1),
	);
	const record = (keys: readonly string[]) => fc.record(Object.fromEntries(keys.map((key) => [key, value])), { requiredKeys: [] });
	const holders = ['prompt_tokens_details', 'completion_tokens_details', 'cache_creation', 'output_tokens_details'];
	const reported = fc
		.tuple(
			record(names),
			fc.record(Object.fromEntries(holders.map((key) => [key, fc.oneof(record(details), value)])), { requiredKeys: [] }),
		)
		.map(([counts, more]) => ({ ...counts, ...more }));

	it.each([usageOfChat, usageOfMessages, usageOfGemini])('is valid or none: %o', (usageOf) => {
		fc.assert(
			fc.property(fc.oneof(reported, fc.jsonValue()), (usage) => {
				const read = figures(usageOf(usage));
				if (read === undefined) return true;
				const [, , write, writeHour, output, reasoning] = read;
				return read.every((count) => Number.isInteger(count) && count >= 0 && count <= 3e9) && writeHour <= write && reasoning <= output;
			}),
			{ numRuns: 500 },
		);
	});

	it('in a response that is not JSON is none', () => {
		fc.assert(fc.property(fc.uint8Array(), (bytes) => readReportedUsage(Buffer.from(bytes), chatUsage).usage === undefined));
		expect(readReportedUsage(Buffer.from('{"usage":{"prompt_tokens":1'), chatUsage).usage).toBeUndefined();
		expect(readReportedUsage(Buffer.from(`{"usage":${'['.repeat(100)}`), chatUsage).usage).toBeUndefined();
	});
});

describe('the usage of embeddings', () => {
	const inputOf = (text: string, reader = embeddingsUsage): unknown => {
		const { isObject, usage } = readReportedUsage(Buffer.from(text), reader);
		return isObject ? usage?.inputTokens : 'no object';
	};

	it.each([
		['{"data":[{"embedding":[1]}],"model":"m","usage":{"prompt_tokens":7,"total_tokens":7}}', 7],
		['{"data":[{"embedding":[1]}],\n "usage": {"prompt_tokens":7,"total_tokens":7,"x":{"y":1}}\n}\n', 7],
		['{"usage":{"prompt_tokens":7,"total_tokens":7},"data":[{"embedding":[1]}]}', 7],
		['{"data":[],"model":"a]\\"usage\\":{","usage":{"prompt_tokens":7}}', 7],
		['{"data":[{"usage":{"prompt_tokens":9}}]}', undefined],
		['{"data":[],"other":{"usage":{"prompt_tokens":9}}}', undefined],
		['{"data":[],"usage":null}', undefined],
		['{"meta":{"usage":{"prompt_tokens":9}},"usage":{"prompt_tokens":7},"data":[1]}', 7],
		['{"model":"a[","usage":{"prompt_tokens":7},"data":[1]}', 7],
		['{"usage":{"prompt_tokens":7,"parts":[1]},"data":[1]}', 7],
		['{"data":[1],"usage":{"prompt_tokens":7},"other":[1]}', 7],
		['{"data":[1]}', undefined],
		['{"data":[1', 'no object'],
		['[{"usage":{"prompt_tokens":7}}]', 'no object'],
		['', 'no object'],
	])('of %s is %s', (text, expected) => {
		expect(inputOf(text)).toBe(expected);
	});

	it('of Gemini is in `usageMetadata`, if it is reported', () => {
		expect(inputOf('{"embeddings":[{"values":[1]}],"usageMetadata":{"promptTokenCount":4}}', geminiEmbeddingsUsage)).toBe(4);
		expect(inputOf('{"embeddings":[{"values":[1]}]}', geminiEmbeddingsUsage)).toBeUndefined();
	});
});

it('a response of embeddings with its usage in front, or without, is not read to its end', () => {
	const vectors = `"data":[${'0.123456789,'.repeat(2_000_000)}1]`;
	const front = Buffer.from(`{"usage":{"prompt_tokens":7},${vectors}}`);
	const without = Buffer.from(`{${vectors}}`);
	const wholeMs = workedMs(() => readReportedUsage(without, chatUsage));
	expect(workedMs(() => readReportedUsage(front, embeddingsUsage))).toBeLessThan(wholeMs / 3);
	expect(workedMs(() => readReportedUsage(without, embeddingsUsage))).toBeLessThan(wholeMs / 3);
});

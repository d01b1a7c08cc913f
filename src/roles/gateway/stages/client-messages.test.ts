/** Usage that a translated response reports equals the charged usage. */
import { describe, expect, test } from 'vitest';
import {
	chatPath,
	compatProvider,
	GatewayBench,
	jsonResponse,
	messagesPath,
	readStream,
	settle,
	sseResponse,
	testSettings,
	textOf,
} from '../../../../test/support/gateway-bench.ts';
import { streamOf } from '../../../core/byte-stream.ts';
import { isJsonObject, type JsonObject } from '../../../wire/json/parse-body.ts';

const providers = [...testSettings.providers, compatProvider];

const text = 'x'.repeat(3000);

/** Responses of providers of one format, non-streaming and streaming. */
interface Wire {
	readonly whole: (usage: unknown) => object;
	readonly events: (usage: unknown) => readonly object[];
	/** Usage reported as zeros, and correctly. */
	readonly zeros: object;
	readonly sound: object;
}

const wires: Readonly<Record<'chat' | 'messages' | 'gemini', Wire>> = {
	chat: {
		whole: (usage) => ({ id: 'x', choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }], usage }),
		events: (usage) => [
			{ id: 'x', choices: [{ index: 0, delta: { content: text }, finish_reason: null }] },
			{ id: 'x', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage },
		],
		zeros: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
		sound: { prompt_tokens: 12, completion_tokens: 34, total_tokens: 46 },
	},
	messages: {
		whole: (usage) => ({ type: 'message', id: 'x', content: [{ type: 'text', text }], stop_reason: 'end_turn', usage }),
		events: (usage) => [
			{ type: 'message_start', message: { id: 'x', content: [], usage } },
			{ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
			{ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } },
			{ type: 'content_block_stop', index: 0 },
			{ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage },
			{ type: 'message_stop' },
		],
		zeros: { input_tokens: 0, output_tokens: 0 },
		sound: { input_tokens: 12, output_tokens: 34 },
	},
	gemini: {
		whole: (usageMetadata) => ({ candidates: [{ content: { parts: [{ text }] }, finishReason: 'STOP' }], usageMetadata }),
		events: (usageMetadata) => [{ candidates: [{ content: { parts: [{ text }] }, finishReason: 'STOP' }], usageMetadata }],
		zeros: { promptTokenCount: 0, candidatesTokenCount: 0, totalTokenCount: 0 },
		sound: { promptTokenCount: 12, candidatesTokenCount: 34, totalTokenCount: 46 },
	},
};

const pairs = [
	['messages', 'gpt-4o-mini', 'chat'],
	['messages', 'our-gpt', 'chat'],
	['messages', 'gemini-2.5-flash', 'gemini'],
	['messages', 'compat/gemini-2.5-flash', 'chat'],
	['chat', 'claude-haiku-4-5', 'messages'],
	['chat', 'gemini-2.5-flash', 'gemini'],
	['chat', 'compat/gemini-2.5-flash', 'chat'],
] as const;

type Reported = 'sound' | 'zeros' | 'nothing';

async function ask(caller: 'chat' | 'messages', model: string, { whole, events, ...wire }: Wire, reported: Reported, isStreaming: boolean) {
	const bench = new GatewayBench({ providers });
	const usage = reported === 'nothing' ? undefined : wire[reported];
	bench.respond = () => {
		if (!isStreaming) return jsonResponse(200, JSON.stringify(whole(usage)));
		const lines = events(usage).map((event) => `data: ${JSON.stringify(event)}\n\n`);
		if ('prompt_tokens' in wire.zeros) lines.push('data: [DONE]\n\n');
		return sseResponse(streamOf([Buffer.from(lines.join(''))]));
	};
	const body = {
		model,
		max_tokens: 2000,
		messages: [{ role: 'user', content: 'hi' }],
		...(isStreaming && { stream: true }),
		...(isStreaming && caller === 'chat' && { stream_options: { include_usage: true } }),
	};
	const response = await bench.ask(caller === 'chat' ? chatPath : messagesPath, JSON.stringify(body));
	const httpResponse = isStreaming ? await lastUsage(response) : (JSON.parse(textOf(response)) as JsonObject);
	await bench.gateway.settled();
	const [entry] = (await bench.ledger.list({ limit: 1 })).rows;
	return { usage: isJsonObject(httpResponse?.usage) ? httpResponse.usage : {}, closed: entry?.closed };
}

/** Returns the last event that reports usage. */
async function lastUsage(response: Parameters<typeof readStream>[0]): Promise<JsonObject | undefined> {
	const { reader } = readStream(response);
	await settle();
	const events = [...reader.text.matchAll(/^data: (\{.*)$/gm)].map(([, json]) => JSON.parse(json ?? '') as JsonObject);
	return events.findLast(({ usage }) => isJsonObject(usage));
}

describe.each(pairs)('%s to %s', (caller, model, speech) => {
	test.each([
		['sound', false],
		['sound', true],
		['zeros', false],
		['zeros', true],
		['nothing', false],
		['nothing', true],
	] as const)('%s, in a stream %s', async (reported, isStreaming) => {
		const { usage, closed } = await ask(caller, model, wires[speech], reported, isStreaming);
		const names = caller === 'chat' ? (['prompt_tokens', 'completion_tokens'] as const) : (['input_tokens', 'output_tokens'] as const);
		expect(closed?.isEstimated).toBe(reported !== 'sound');
		// The reservation, for a model whose reasoning may have been hidden.
		expect(reported === 'sound' ? [34] : [1000, 1024]).toContain(closed?.usage.outputTokens);
		expect(closed?.usage.inputTokens).toBeGreaterThan(reported === 'sound' ? 11 : 0);
		expect(names.map((name) => usage[name])).toEqual([closed?.usage.inputTokens, closed?.usage.outputTokens]);
	});
});

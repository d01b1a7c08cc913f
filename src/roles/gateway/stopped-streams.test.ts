/** Streams that exceed their budget under `on_stream_over: stop`: when and how they end, and their charge. */
import { describe, expect, it } from 'vitest';
import {
	chatBody,
	chatPath,
	errorOf,
	GatewayBench,
	HandStream,
	messagesPath,
	readStream,
	settle,
	sseResponse,
	testSettings,
} from '../../../test/support/gateway-bench.ts';
import { guardrailsWith, piiRules, responseEvents } from '../../../test/support/guarded-gateway.ts';
import { anthropicLines, openAiLines } from '../../../test/support/sdk-lines.ts';
import { allModels } from '../../core/budget-scope.ts';
import { isByteStream } from '../../core/byte-stream.ts';
import type { LedgerEntry } from '../../stores/contracts/ledger.ts';
import type { GatewaySettings } from './gateway-settings.ts';

const unlimited = { requestsPerMinute: null, dailyTokens: null, monthlyBudgetUsd: null };
const guardrails = guardrailsWith({ pii: piiRules('none', { ssn: 'block' }) });

function benchWith(monthlyBudgetUsd: string, stoppedStream: 'error' | 'length', more: Partial<GatewaySettings> = {}): GatewayBench {
	return new GatewayBench({
		tiers: { sandbox: unlimited, standard: { ...unlimited, monthlyBudgetUsd } },
		budgets: { ...testSettings.budgets, onStreamOver: 'stop', stoppedStream },
		...more,
	});
}

async function onlyEntry(bench: GatewayBench): Promise<LedgerEntry> {
	await bench.gateway.settled();
	const [entry, ...others] = (await bench.ledger.list({ limit: 9 })).rows;
	if (entry === undefined || others.length > 0) throw new Error('not one ledger entry');
	return entry;
}

const word = 'word';
const chunk = (text: string): string => `data: {"choices":[{"index":0,"delta":{"content":"${text}"}}],"usage":null}\n\n`;
const wordsOf = (count: number): string[] => Array.from({ length: count }, () => word);

describe('a stream that exceeds its budget', () => {
	it('ends before the budget is exceeded, and uses nearly all of it', async () => {
		const bench = benchWith('0.03', 'error');
		const upstream = new HandStream();
		bench.respond = () => sseResponse(upstream);
		const { reader } = readStream(await bench.ask(chatPath, chatBody.replace('{', '{"stream":true,').replace('gpt-5', 'gpt-4o')));
		let generated = 0;
		for (; generated < 5000 && reader.ending === 'open'; generated++) {
			upstream.write(chunk(word));
			await settle();
			bench.clock.advance(10);
		}
		expect(reader.text).toMatch(/data: \{"error":\{[^\n]*"code":"budget_exceeded"[^\n]*\n\n$/);
		expect(upstream.isCancelled).toBe(true);
		// At 10 USD for a million tokens of output, less the input.
		expect(generated).toBeLessThan(3000);
		expect(generated).toBeGreaterThan(2900);
		const { closed } = await onlyEntry(bench);
		expect(closed).toMatchObject({ outcome: 'broken', isEstimated: true });
		// Includes the output until the provider learns of the end.
		expect(closed?.usage.outputTokens).toBeGreaterThan(generated);
		expect(closed?.costNanoUsd).toBeLessThanOrEqual(30_000_000n);
		expect(closed?.costNanoUsd).toBeGreaterThan(29_700_000n);
	});

	it('ends in time too when its provider reports nothing but its input', async () => {
		const bench = benchWith('0.03', 'length');
		const upstream = new HandStream();
		bench.respond = () => sseResponse(upstream);
		const body = '{"stream":true,"model":"claude-sonnet-4-5","max_tokens":9000,"messages":[{"role":"user","content":"hi"}]}';
		const { reader } = readStream(await bench.ask(messagesPath, body));
		for (const event of responseEvents.messages(wordsOf(3000)).slice(0, -3)) {
			if (reader.ending !== 'open') break;
			upstream.write(event);
			await settle();
			bench.clock.advance(10);
		}
		expect(reader.ending).toBe('ended');
		const delivered = reader.text.split('text_delta').length - 1;
		expect(delivered).toBeGreaterThan(1900);
		const { closed } = await onlyEntry(bench);
		expect(closed?.costNanoUsd).toBeLessThanOrEqual(30_000_000n);
		expect(closed?.costNanoUsd).toBeGreaterThan(29_500_000n);
	});

	it('continues to its own end if the budget has enough, and is charged the reported usage', async () => {
		const bench = benchWith('0.03', 'length');
		const upstream = new HandStream();
		bench.respond = () => sseResponse(upstream);
		const { reader } = readStream(await bench.ask(chatPath, chatBody.replace('{', '{"stream":true,').replace('gpt-5', 'gpt-4o')));
		for (let sent = 0; sent < 2000; sent++) {
			upstream.write(chunk(word));
			await settle();
		}
		upstream.write('data: {"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":2000,"total_tokens":2010}}\n\ndata: [DONE]\n\n');
		upstream.sink?.end();
		expect(reader.text.endsWith('data: [DONE]\n\n')).toBe(true);
		expect((await onlyEntry(bench)).closed).toMatchObject({ outcome: 'complete', isEstimated: false, usage: { outputTokens: 2000 } });
	});

	it('is not stopped by one chunk that is larger than its reservation, if the budget has enough', async () => {
		const bench = benchWith('1.00', 'error');
		const upstream = new HandStream();
		bench.respond = () => sseResponse(upstream);
		const { reader } = readStream(await bench.ask(chatPath, chatBody.replace('{', '{"stream":true,').replace('gpt-5', 'gpt-4o')));
		upstream.write(chunk('word '.repeat(3000)));
		await settle();
		expect(reader.ending).toBe('open');
	});

	it('is stopped during possible hidden reasoning, by its maximum', async () => {
		const bench = benchWith('0.03', 'error');
		const upstream = new HandStream();
		bench.respond = (request) => {
			request.onSent?.();
			return sseResponse(upstream);
		};
		const { reader } = readStream(await bench.ask(chatPath, chatBody.replace('{', '{"stream":true,')));
		for (let halves = 0; halves < 20 && reader.ending === 'open'; halves++) {
			bench.clock.advance(500);
			await settle();
		}
		expect(reader.text).toContain('"code":"budget_exceeded"');
		const { closed } = await onlyEntry(bench);
		expect(closed?.costNanoUsd).toBeLessThanOrEqual(30_000_000n);
		expect(closed?.costNanoUsd).toBeGreaterThan(20_000_000n);
	});

	it('leaves its unused reservation to the next: a request for which it is too little is rejected', async () => {
		const bench = benchWith('0.0004', 'error');
		const rejected = await bench.ask(
			chatPath,
			chatBody.replace('{', '{"stream":true,').replace('gpt-5', 'gpt-4o').replace('hi', 'hi '.repeat(300)),
		);
		expect(rejected.status).toBe(429);
		expect(errorOf(rejected).error).toMatchObject({ code: 'budget_exceeded' });
		expect(errorOf(rejected).error.message).toContain('Monthly budget too small for this request (0.00/0.0004 USD; the request can cost ');
	});

	it('keeps its reservation for as long as it runs, and no longer', async () => {
		const bench = benchWith('1000', 'error');
		const upstream = new HandStream();
		bench.respond = () => sseResponse(upstream);
		const { flow } = readStream(await bench.ask(chatPath, chatBody.replace('{', '{"stream":true,').replace('gpt-5', 'gpt-4o')));
		const reserved = async (): Promise<bigint | undefined> => {
			const period = new Date(bench.clock.nowMs()).toISOString().slice(0, 7);
			return (await bench.admission.read('team-1', [{ budget: allModels, period }])).budgets[0]?.reservedNanoUsd;
		};
		expect(await reserved()).toBeGreaterThan(0n);
		for (let beats = 0; beats < 20; beats++) {
			bench.clock.advance(15_000);
			await settle();
		}
		expect(await reserved()).toBeGreaterThan(0n);
		flow.cancel();
		await bench.gateway.settled();
		expect(await reserved()).toBe(0n);
	});
});

/** Replaces the network by the gateway, with a stream of far more words than the budget allows. */
function fetchStopped(wire: 'chat' | 'messages' | 'gemini', isGuarded: boolean) {
	return async (input: string | URL | Request, init: RequestInit | undefined): Promise<Response> => {
		const bench = benchWith(budgetsUsd[wire], 'length', isGuarded ? { guardrails } : {});
		const upstream = new HandStream();
		bench.respond = () => sseResponse(upstream);
		const { body } = init ?? {};
		if (typeof body !== 'string') throw new Error('the SDK sent no text');
		const { status, headers, body: response } = await bench.ask(new URL(input instanceof Request ? input.url : input).pathname, body);
		if (!isByteStream(response)) return new Response(response?.toString() ?? null, { status });
		const { reader } = readStream({ status, headers, body: response });
		for (const event of eventsOf[wire](wordsOf(6000))) {
			if (reader.ending !== 'open') break;
			upstream.write(event);
			await settle();
			bench.clock.advance(5);
		}
		return new Response(reader.text, { status, headers: headers as Record<string, string> });
	};
}

const targets = [
	['chat', 'provider_b/gpt-4o', false],
	['chat', 'provider_b/gpt-4o', true],
	['messages', 'provider_a/claude-sonnet-4-5', false],
	['messages', 'provider_a/claude-sonnet-4-5', true],
	['gemini', 'provider_c/gemini-2.5-flash-lite', false],
] as const;
/** A usage report in each event, like Gemini. */
const geminiEvents = (words: readonly string[]): string[] =>
	words.map((text, index) => {
		const usageMetadata = { promptTokenCount: 3, candidatesTokenCount: index + 1, totalTokenCount: index + 4 };
		const candidates = [{ index: 0, content: { role: 'model', parts: [{ text }] } }];
		return `data: ${JSON.stringify({ candidates, usageMetadata, modelVersion: 'm' })}\n\n`;
	});
const eventsOf = { chat: responseEvents.chat, messages: responseEvents.messages, gemini: geminiEvents };
const messages = [{ role: 'user' as const, content: 'hello' }];
const budgetsUsd = { chat: '0.03', messages: '0.03', gemini: '0.001' };
/** Minimum and maximum words that the budget allows at 10, 15 and 0.40 USD per million words. */
const minWords = { chat: 2850, messages: 1900, gemini: 2350 };
const maxWords = { chat: 3000, messages: 2000, gemini: 2500 };

describe.each(targets)('%s from %s, screened %s, that ends as if its cap were reached', (wire, model, isGuarded) => {
	const settings = { apiKey: 'any', maxRetries: 0, fetch: fetchStopped(wire, isGuarded) };

	it.each(openAiLines)('is read by %s without an exception', async (_line, Client) => {
		const client = new Client({ ...settings, baseURL: 'http://gateway.test/v1' });
		const requested = { model, messages, max_tokens: 8000, stream_options: { include_usage: true } };
		const stream = client.chat.completions.stream(requested);
		const whole = await stream.finalChatCompletion();
		const text = whole.choices[0]?.message.content ?? '';
		expect(whole.choices[0]?.finish_reason).toBe('length');
		expect(text.length / word.length).toBeGreaterThan(minWords[wire]);
		expect(text.length / word.length).toBeLessThanOrEqual(maxWords[wire]);
		expect(whole.usage?.completion_tokens).toBeGreaterThanOrEqual(text.length / word.length);
		expect(whole.usage?.total_tokens).toBe((whole.usage?.prompt_tokens ?? 0) + (whole.usage?.completion_tokens ?? 0));
	});

	it.each(anthropicLines)('is read by %s without an exception', async (_line, Client) => {
		const client = new Client({ ...settings, baseURL: 'http://gateway.test' });
		const whole = await client.messages.stream({ model, max_tokens: 8000, messages }).finalMessage();
		const [block] = whole.content;
		const text = block?.type === 'text' ? block.text : '';
		expect(whole.stop_reason).toBe('max_tokens');
		expect(text.length / word.length).toBeGreaterThan(minWords[wire]);
		expect(whole.usage.output_tokens).toBeGreaterThanOrEqual(text.length / word.length);
		expect(whole.usage.input_tokens).toBeGreaterThan(0);
	});
});

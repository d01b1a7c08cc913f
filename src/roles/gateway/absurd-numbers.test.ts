/** Implausible numbers from clients and providers are rejected, or become amounts that a request can really reach. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
	chatPath,
	errorOf,
	GatewayBench,
	HandStream,
	jsonResponse,
	messagesPath,
	readStream,
	sentText,
	settle,
	sseResponse,
	testSettings,
	textOf,
} from '../../../test/support/gateway-bench.ts';
import { isByteStream } from '../../core/byte-stream.ts';
import type { UpstreamResponse } from '../../core/upstream.ts';
import { maxInputTokensOf, outputTokenLimitOf } from '../../policy/budgets/model-output-limits.ts';
import type { BudgetSettings } from './gateway-settings.ts';

type Hold = BudgetSettings['reservation'];

/** Maximum that all stores can hold, with room for sums. */
const maxNanoUsd = 10n ** 15n;
const maxChoices = 128;
/** Maximum reported token count that the gateway trusts. */
const maxReported = 1_000_000_000;

const models = ['gpt-4o-mini', 'o3', 'our-gpt', 'claude-sonnet-4-5', 'gemini-2.5-pro', 'no-such-model'];
const numbers = ['1e308', '1e400', '-1e400', '1e25', '1e18', '9007199254740993', '2147483648', '2147483647', '1000000', '129', '128', '2'];
const others = ['1', '0', '-1', '1.5', '1e-300', 'null', '"5"', '[]', '{}', 'true'];
const number = fc.constantFrom(...numbers, ...others);
const members = ['n', 'max_tokens', 'max_completion_tokens', 'candidateCount', 'maxOutputTokens', 'reasoning_effort', 'top_logprobs'];

const inferenceRequest = fc.record({
	reservation: fc.constantFrom<Hold>('estimate', 'worst_case'),
	path: fc.constantFrom(chatPath, messagesPath),
	model: fc.constantFrom(...models),
	fields: fc.dictionary(fc.constantFrom(...members), number, { maxKeys: 3 }),
	budget: fc.option(number),
	isStreaming: fc.boolean(),
	parts: fc.constantFrom(0, 1, 3000),
	ending: fc.constantFrom('unanswered', 'left', 'cut', 'untold', 'told'),
	reported: fc.tuple(number, number, number),
});

function bodyOf({ path, model, fields, budget, isStreaming, parts: deps }: InferenceRequest): string {
	const content = deps === 0 ? '"hi"' : `[${Array.from({ length: deps }, () => '{"type":"image_url"}').join()}]`;
	const all = {
		...(path === messagesPath && { max_tokens: '9' }),
		...fields,
		...(isStreaming && { stream: 'true' }),
		...(budget !== null && { thinking: `{"type":"enabled","budget_tokens":${budget}}` }),
	};
	const more = Object.entries(all).map(([name, value]) => `,"${name}":${value}`);
	return `{"model":"${model}","messages":[{"role":"user","content":${content}}]${more.join('')}}`;
}

type InferenceRequest = typeof inferenceRequest extends fc.Arbitrary<infer T> ? T : never;

function responseOf({ reported: [one, other, total], ending, isStreaming }: InferenceRequest): UpstreamResponse {
	const usage = [
		`"usage":{"prompt_tokens":${one},"completion_tokens":${other},"total_tokens":${total},"input_tokens":${one},"output_tokens":${other},"cache_read_input_tokens":${total}}`,
		`"usageMetadata":{"promptTokenCount":${one},"candidatesTokenCount":${other},"totalTokenCount":${total}}`,
	].join();
	const text = 'word '.repeat(100);
	const response =
		`{"type":"message","id":"x","content":[{"type":"text","text":"${text}"}],"stop_reason":"end_turn",` +
		`"choices":[{"index":0,"message":{"content":"${text}"},"delta":{"content":"${text}"},"finish_reason":"stop"}],` +
		`"candidates":[{"content":{"parts":[{"text":"${text}"}]},"finishReason":"STOP"}]${ending === 'told' ? `,${usage}` : ''}}`;
	if (!isStreaming) return jsonResponse(200, response);
	const stream = new HandStream();
	void settle().then(() => {
		for (let event = 0; event < 3; event++) stream.write(`data: ${response}\n\n`);
		if (ending !== 'cut' && ending !== 'left') stream.sink?.end();
	});
	return sseResponse(stream);
}

function benchOf(reservation: Hold, monthlyBudgetUsd: string | null): GatewayBench {
	const unlimited = { requestsPerMinute: null, dailyTokens: null, monthlyBudgetUsd };
	return new GatewayBench({
		budgets: { ...testSettings.budgets, reservation, unknownPrice: 'default_rate' },
		tiers: { sandbox: unlimited, standard: unlimited },
	});
}

it('whatever numbers a request has, it causes no internal error, and no amount exceeds what a request can cost', async () => {
	await fc.assert(
		fc.asyncProperty(inferenceRequest, async (requested) => {
			const bench = benchOf(requested.reservation, '500000000');
			let disconnected: (() => void) | undefined;
			bench.respond = (request) => {
				request.onSent?.();
				if (requested.ending !== 'unanswered') return responseOf(requested);
				disconnected?.();
				return new Promise<never>(() => undefined);
			};
			const response = await bench.ask(
				requested.path,
				bodyOf(requested),
				{},
				{ onClientDisconnect: (listener) => (disconnected = listener) },
			);
			expect(response.status).not.toBe(500);
			if (response.body !== null && isByteStream(response.body)) {
				const { flow } = readStream(response);
				await settle();
				await settle();
				flow.cancel();
			}
			// The gateway reads on for a while after the client disconnects.
			bench.clock.advance(10_000);
			await bench.gateway.settled();
			for (const { reservedNanoUsd, model, closed } of (await bench.ledger.list({ limit: 9 })).rows) {
				expect(reservedNanoUsd).toBeLessThanOrEqual(maxNanoUsd);
				if (closed === undefined) throw new Error('a call has ended, and its row has not');
				const { usage, costNanoUsd, isEstimated } = closed;
				expect(costNanoUsd).toBeGreaterThanOrEqual(0n);
				expect(costNanoUsd).toBeLessThanOrEqual(maxNanoUsd);
				for (const tokens of Object.values(usage)) {
					expect(Number.isSafeInteger(tokens) && tokens >= 0 && tokens <= 2 * maxReported).toBe(true);
				}
				if (!isEstimated || requested.ending === 'told') continue;
				expect(usage.inputTokens).toBeLessThanOrEqual(maxInputTokensOf(model));
				expect(usage.outputTokens).toBeLessThanOrEqual(outputTokenLimitOf(model, undefined) * maxChoices);
			}
		}),
		{ numRuns: 200 },
	);
});

/** Disconnects the client after the provider has the request and before it responds. */
async function leave(bench: GatewayBench, body: string, path = chatPath): Promise<void> {
	let disconnected: (() => void) | undefined;
	bench.respond = (request) => {
		request.onSent?.();
		disconnected?.();
		return new Promise<never>(() => undefined);
	};
	await bench.ask(path, body, {}, { onClientDisconnect: (listener) => (disconnected = listener) });
	await bench.gateway.settled();
}

function sentTo({ sent: [request] }: GatewayBench): string {
	if (request === undefined) throw new Error('nothing was sent');
	return sentText(request);
}

async function costOf(bench: GatewayBench): Promise<readonly unknown[]> {
	const [entry] = (await bench.ledger.list({ limit: 1 })).rows;
	return [entry?.closed?.usage.inputTokens, entry?.closed?.usage.outputTokens, entry?.closed?.costNanoUsd];
}

describe('a client that disconnects before the first byte', () => {
	it('does not exhaust its team’s month: not by many choices', async () => {
		const bench = benchOf('estimate', '25');
		await leave(bench, '{"model":"gpt-4o-mini","n":128,"messages":[{"role":"user","content":"hi"}]}');
		expect(await costOf(bench)).toEqual([19, 128 * 1024, 78_646_050n]);
		bench.respond = () => jsonResponse(200, '{"choices":[]}');
		const response = await bench.ask(chatPath, '{"model":"gpt-4o-mini","messages":[{"role":"user","content":"hi"}]}', {}, { id: 'req-2' });
		expect(response.status).toBe(200);
	});

	it('nor by many attachments', async () => {
		const deps = Array.from({ length: 20_000 }, () => ({ type: 'image_url' }));
		const bench = benchOf('estimate', '25');
		await leave(bench, JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content: deps }] }));
		expect(await costOf(bench)).toEqual([128_000, 1024, 330_240_000n]);
	});

	it('nor by caps that the model cannot reach', async () => {
		const bench = benchOf('worst_case', '1000');
		await leave(bench, '{"model":"our-gpt","max_tokens":2147483647,"n":2,"messages":[{"role":"user","content":"hi"}]}');
		expect((await costOf(bench))[1]).toBe(2 * 1_050_000);
		expect(sentTo(bench)).toContain('"max_tokens":1050000');
	});
});

it.each([
	[chatPath, 'n', '1000000'],
	[chatPath, 'n', '1e400'],
	[chatPath, 'max_tokens', '1e18'],
	[chatPath, 'max_completion_tokens', '2147483648'],
	[messagesPath, 'max_tokens', '1e308'],
	[messagesPath, 'thinking', '{"type":"enabled","budget_tokens":1e18}', 'thinking.budget_tokens'],
	['/v1/messages/count_tokens', 'max_tokens', '1e308'],
	['/v1/messages/count_tokens', 'thinking', '{"budget_tokens":1e18}', 'thinking.budget_tokens'],
])('%s with `%s` %s is rejected', async (path, name, value, param = name) => {
	const bench = benchOf('estimate', null);
	const cap = name === 'max_tokens' ? '' : '"max_tokens":9,';
	const response = await bench.ask(path, `{"model":"m",${cap}"${name}":${value},"messages":[{"role":"user","content":"hi"}]}`);
	expect([response.status, errorOf(response).error.code, errorOf(response).error.param, bench.sent.length]).toEqual([
		400,
		'field_invalid',
		param,
		0,
	]);
});

it('a member of another format is no cap and no number of choices', async () => {
	const bench = benchOf('worst_case', '1000');
	const body =
		'{"model":"claude-sonnet-4-5","max_tokens":9,"n":1e308,"max_completion_tokens":1.5,"messages":[{"role":"user","content":"hi"}]}';
	await leave(bench, body, messagesPath);
	expect((await costOf(bench))[1]).toBe(9);
	// The provider decides about them.
	expect(sentTo(bench)).toBe(body);
});

it('a token count reports the size of the request, even if no model could read it', async () => {
	const bench = benchOf('estimate', null);
	const deps = Array.from({ length: 2000 }, () => ({ type: 'image' }));
	const body = JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content: deps }] });
	const response = await bench.ask('/v1/messages/count_tokens', body);
	expect((JSON.parse(textOf(response)) as { input_tokens: number }).input_tokens).toBeGreaterThan(2000 * 1500);
});

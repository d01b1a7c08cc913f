import { describe, expect, it } from 'vitest';
import { benchWith, readingOf, rowsOf } from '../../../test/support/failover-rig.ts';
import {
	errorOf,
	GatewayBench,
	HandStream,
	jsonResponse,
	readStream,
	sentText,
	sseResponse,
	summaryOf,
	testSettings,
	textOf,
} from '../../../test/support/gateway-bench.ts';
import { guardrailsWith, piiRules } from '../../../test/support/guarded-gateway.ts';
import type { HttpResponse } from '../../core/handler.ts';

const path = '/v1/completions';
const model = 'gpt-3.5-turbo-instruct';
const settings = { routing: { ...testSettings.routing, defaults: { ...testSettings.routing.defaults, completions: 'provider_b' } } };
const usage = { prompt_tokens: 100, completion_tokens: 50, total_tokens: 150 };

const responseOf = (text: string, more: Record<string, unknown> = {}): string =>
	JSON.stringify({
		id: 'c',
		object: 'text_completion',
		choices: [{ text, index: 0, logprobs: null, finish_reason: 'stop' }],
		usage,
		...more,
	});

const chunk = (text: string, finish_reason: string | null = null): string =>
	`data: ${JSON.stringify({ id: 'c', object: 'text_completion', choices: [{ text, index: 0, logprobs: null, finish_reason }] })}\n\n`;
const usageChunk = `data: ${JSON.stringify({ id: 'c', object: 'text_completion', choices: [], usage })}\n\n`;
const done = 'data: [DONE]\n\n';

let requested = 0;
const ask = (bench: GatewayBench, body: Record<string, unknown>): Promise<HttpResponse> =>
	bench.ask(path, JSON.stringify({ model, prompt: 'hi', ...body }), {}, { id: `req-${++requested}` });

async function stream(
	bench: GatewayBench,
	body: Record<string, unknown>,
	events: readonly string[],
): Promise<{ text: string; ending: string }> {
	const upstream = new HandStream();
	bench.respond = (request) => {
		request.onSent?.();
		return sseResponse(upstream);
	};
	const { reader } = readStream(await ask(bench, { ...body, stream: true }));
	for (const event of events) if (!upstream.isCancelled) upstream.write(event);
	if (!upstream.isCancelled) upstream.sink?.end();
	return reader;
}

function sentBody({ sent }: GatewayBench): unknown {
	return JSON.parse(sent[0] === undefined ? '' : sentText(sent[0]));
}

describe('legacy completions', () => {
	it('pass unchanged to OpenAI and back', async () => {
		const bench = new GatewayBench(settings);
		bench.respond = () => jsonResponse(200, responseOf('there'));
		const body = `{"model": "${model}", "prompt": [[1, 2]] }`;
		const response = await bench.ask(path, body);
		expect([textOf(response), bench.sent.map(sentText), bench.sent[0]?.target]).toEqual([responseOf('there'), [body], '/v1/completions']);
		const [row] = await rowsOf(bench);
		expect(row).toMatchObject({ dialect: 'completions', model });
		// 1.5 and 2 US dollars per million tokens.
		expect(row?.closed).toMatchObject({ isEstimated: false, costNanoUsd: 250_000n });
	});

	it('reach an Azure deployment', async () => {
		const bench = new GatewayBench(settings);
		bench.respond = () => jsonResponse(200, responseOf('there'));
		await ask(bench, { model: 'provider_d/instruct' });
		expect(bench.sent[0]?.target).toBe('/openai/deployments/instruct/completions?api-version=2024-10-21');
	});

	it('stream without the usage that only the gateway requested', async () => {
		const bench = new GatewayBench(settings);
		const reader = await stream(bench, {}, [chunk('the'), chunk('re', 'stop'), usageChunk, done]);
		expect([reader.text, reader.ending]).toEqual([`${chunk('the')}${chunk('re', 'stop')}${done}`, 'ended']);
		expect(sentBody(bench)).toMatchObject({ stream: true, stream_options: { include_usage: true } });
		const [row] = await rowsOf(bench);
		expect([row?.isStreaming, row?.closed?.isEstimated, row?.closed?.costNanoUsd]).toEqual([true, false, 250_000n]);
	});

	it('stream with the usage that the client requested', async () => {
		const bench = new GatewayBench(settings);
		const reader = await stream(bench, { stream_options: { include_usage: true } }, [chunk('there', 'stop'), usageChunk, done]);
		expect(reader.text).toBe(`${chunk('there', 'stop')}${usageChunk}${done}`);
	});

	it('without usage are estimated from the text', async () => {
		const bench = new GatewayBench(settings);
		await stream(bench, {}, [chunk('the'), chunk('re', 'stop'), done]);
		const [row] = await rowsOf(bench);
		expect(row?.closed).toMatchObject({ isEstimated: true, usage: { inputTokens: 1, outputTokens: 2 } });
	});

	it('that break end with an error event', async () => {
		const { text } = await stream(new GatewayBench(settings), {}, [chunk('the')]);
		expect(text).toMatch(/^data: .*\n\ndata: \{"error":\{"type":"api_error".*provider_disconnected/);
	});

	it.each(['claude-x', 'gemini-3-pro'])('of %s are rejected with the next step', async (other) => {
		const bench = new GatewayBench(settings);
		const response = await ask(bench, { model: other });
		expect([summaryOf(response), errorOf(response).error.param, bench.sent.length]).toEqual(['400 field_invalid', 'model', 0]);
		expect(errorOf(response).error.message).toContain('does not serve /v1/completions');
	});
});

describe('guardrails', () => {
	const guardrails = guardrailsWith({ pii: piiRules('none', { ssn: 'block', email: 'mask' }) });

	it.each([{ prompt: ['fine', 'a darkfish'] }, { suffix: 'a darkfish' }])('block the input %j', async (body) => {
		const bench = new GatewayBench({ ...settings, guardrails });
		expect([summaryOf(await ask(bench, body)), bench.sent.length]).toEqual(['400 guardrail_blocked', 0]);
	});

	it('block and mask the text of choices', async () => {
		const bench = new GatewayBench({ ...settings, guardrails });
		bench.respond = () => jsonResponse(200, responseOf('a darkfish'));
		expect(summaryOf(await ask(bench, {}))).toBe('400 guardrail_blocked');
		const logprobs = { tokens: ['ann@', 'example.com'], top_logprobs: null };
		bench.respond = () =>
			jsonResponse(200, responseOf('', { choices: [{ text: 'ann@example.com', index: 0, logprobs, finish_reason: 'stop' }] }));
		expect(textOf(await ask(bench, {}))).not.toContain('ann@');
	});

	it('block a stream in which a match is split', async () => {
		const bench = new GatewayBench({ ...settings, guardrails });
		const { text } = await stream(bench, {}, [chunk('All is well. A dark'), chunk('fish', 'stop'), usageChunk, done]);
		expect(text).toContain('guardrail_blocked');
		expect(text).not.toContain('fish"');
	});
});

describe('budgets', () => {
	it('bound each choice of each prompt by the default of the format', async () => {
		const target = { provider: 'provider_b', model, weight: 1 };
		const bench = benchWith({ targets: [target], monthlyBudgetUsd: '0.01', budgets: { reservation: 'worst_case' } });
		bench.respond = (request) => {
			request.onSent?.();
			return jsonResponse(200, responseOf('there', { usage: { prompt_tokens: 6, completion_tokens: 96, total_tokens: 102 } }));
		};
		const response = await ask(bench, { prompt: ['a', 'b'], best_of: 3 });
		expect(response.headers['x-gateway-warnings']).toBe('the output is capped at 16 tokens, for a budget');
		expect(sentBody(bench)).toMatchObject({ max_tokens: 16 });
		const [row] = await rowsOf(bench);
		// Two texts of at most 3 tokens, and 16 tokens of 6 choices.
		expect(row?.reservedNanoUsd).toBe(9_000n + 192_000n);
		expect(await readingOf(bench, 'all')).toEqual(['201000 0']);
	});
});

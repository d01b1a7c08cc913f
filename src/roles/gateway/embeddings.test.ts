import { describe, expect, it } from 'vitest';
import { benchWith, readingOf, rowsOf } from '../../../test/support/failover-rig.ts';
import { errorOf, GatewayBench, jsonResponse, sentText, summaryOf, testSettings, textOf } from '../../../test/support/gateway-bench.ts';
import { guardrailsWith, piiRules } from '../../../test/support/guarded-gateway.ts';
import type { HttpResponse } from '../../core/handler.ts';
import { unpackFloats } from '../../wire/dialects/embeddings/encoding.ts';

const path = '/v1/embeddings';
const small = { provider: 'provider_b', model: 'text-embedding-3-small', weight: 1 };
const settings = { routing: { ...testSettings.routing, defaults: { ...testSettings.routing.defaults, embeddings: 'provider_b' } } };

function vectors(embeddings: readonly unknown[], usage: unknown = { prompt_tokens: 1000, total_tokens: 1000 }): string {
	const data = embeddings.map((embedding, index) => ({ object: 'embedding', index, embedding }));
	return JSON.stringify({ object: 'list', data, model: 'text-embedding-3-small', ...(usage !== null && { usage }) });
}

function benchTo(response: string | ((body: string) => string)): GatewayBench {
	const bench = new GatewayBench(settings);
	bench.respond = (request) => {
		request.onSent?.();
		return jsonResponse(200, typeof response === 'string' ? response : response(sentText(request)));
	};
	return bench;
}

let requested = 0;
const ask = (bench: GatewayBench, body: Record<string, unknown>): Promise<HttpResponse> =>
	bench.ask(path, JSON.stringify({ model: 'text-embedding-3-small', ...body }), {}, { id: `req-${++requested}` });
const dataOf = (response: HttpResponse) => (JSON.parse(textOf(response)) as { data: { embedding: unknown }[] }).data;

describe('embeddings', () => {
	it('pass unchanged to OpenAI and back, and are billed as input', async () => {
		const response = vectors(['AACAPw=='], { prompt_tokens: 1000, total_tokens: 1000 });
		const bench = benchTo(response);
		const body = '{"model": "text-embedding-3-small", "input": ["hi"],"encoding_format":"base64"}';
		const received = await bench.ask(path, body);
		expect([received.status, textOf(received), sentText(bench.sent[0] ?? never())]).toEqual([200, response, body]);
		expect(bench.sent[0]).toMatchObject({ origin: 'https://b.test', target: '/v1/embeddings' });
		const [row] = await rowsOf(bench);
		expect(row).toMatchObject({ dialect: 'embeddings', model: 'text-embedding-3-small', isStreaming: false });
		expect(row?.closed).toMatchObject({ isEstimated: false, costNanoUsd: 20_000n, usage: { inputTokens: 1000, outputTokens: 0 } });
	});

	it('reach an Azure deployment, and Gemini’s endpoint in OpenAI’s format', async () => {
		const providers = testSettings.providers.map((provider) =>
			provider.name === 'provider_c' ? { ...provider, usesOpenaiDialect: true } : provider,
		);
		for (const [model, target] of [
			['provider_d/embed', '/openai/deployments/embed/embeddings?api-version=2024-10-21'],
			['gemini-embedding-001', '/v1beta/openai/embeddings'],
		]) {
			const bench = new GatewayBench({ ...settings, providers });
			bench.respond = () => jsonResponse(200, vectors([[1]]));
			expect((await ask(bench, { model, input: 'hi' })).status).toBe(200);
			expect(bench.sent[0]?.target).toBe(target);
		}
	});

	it('have the requested encoding even if the server ignores it', async () => {
		const floats = benchTo(vectors([[0.5, -0.25]]));
		const packed = await ask(floats, { input: 'hi', encoding_format: 'base64' });
		expect(unpackFloats(String(dataOf(packed)[0]?.embedding))).toEqual([0.5, -0.25]);
		const base64 = benchTo(vectors(['AAAAPwAAgL4=']));
		expect(dataOf(await ask(base64, { input: 'hi' }))[0]?.embedding).toEqual([0.5, -0.25]);
	});

	it('of Gemini are translated, and their usage is estimated from the texts alone', async () => {
		const bench = benchTo('{"embeddings":[{"values":[1,0]},{"values":[0,1]}]}');
		const input = ['word '.repeat(80), 'x'];
		const response = await ask(bench, { model: 'gemini-embedding-001', input, dimensions: 2 });
		expect(JSON.parse(textOf(response))).toMatchObject({
			model: 'gemini-embedding-001',
			data: [{ embedding: [1, 0] }, { embedding: [0, 1] }],
			usage: { prompt_tokens: 101, total_tokens: 101 },
		});
		expect(bench.sent[0]?.target).toBe('/v1beta/models/gemini-embedding-001:batchEmbedContents');
		const [row] = await rowsOf(bench);
		expect(row?.closed).toMatchObject({ isEstimated: true, costNanoUsd: 15_150n, usage: { inputTokens: 101, outputTokens: 0 } });
	});

	it('without usage are estimated, and never free', async () => {
		const bench = benchTo(vectors([[1]], null));
		await ask(bench, { input: 'hi' });
		const [row] = await rowsOf(bench);
		expect(row?.closed).toMatchObject({ isEstimated: true, usage: { inputTokens: 1, outputTokens: 0 } });
	});

	it.each([
		['text-embedding-3-small', 200],
		['provider_d/embed', 200],
		['gemini-embedding-001', 400],
	])('of token ids for %s: %i', async (model, status) => {
		const bench = benchTo(vectors([[1]]));
		const response = await ask(bench, { model, input: [[1, 2], [3]] });
		expect([response.status, bench.sent.length]).toEqual([status, status === 200 ? 1 : 0]);
		if (status === 400) expect(errorOf(response).error).toMatchObject({ code: 'field_invalid', param: 'input' });
	});

	it.each([
		[{ input: ['a', 'b', 'c', 4] }, 'input[3]'],
		[{ input: [] }, 'input'],
		[{ input: '' }, 'input'],
		[{ input: Array.from({ length: 2049 }, () => 'x') }, 'input'],
		[{ model: 'gemini-embedding-001', input: Array.from({ length: 101 }, () => 'x') }, 'input'],
		[{ input: 'x', encoding_format: 'hex' }, 'encoding_format'],
	])('of %j are rejected without a call of the provider', async (body, param) => {
		const bench = benchTo(vectors([[1]]));
		const response = await ask(bench, body);
		expect(summaryOf(response)).toBe('400 field_invalid');
		expect([errorOf(response).error.param, bench.sent.length]).toEqual([param, 0]);
	});

	it('of a provider that has none are rejected with the next step', async () => {
		const bench = benchTo('');
		const response = await ask(bench, { model: 'claude-x', input: 'hi' });
		expect([errorOf(response).error, bench.sent.length]).toMatchObject([
			{ code: 'field_invalid', param: 'model', message: expect.stringContaining('does not serve /v1/embeddings') as string },
			0,
		]);
	});
});

describe('guardrails', () => {
	it('evaluate each text, and mask it in place', async () => {
		const guardrails = guardrailsWith({ pii: piiRules('none', { email: 'mask' }) });
		const bench = new GatewayBench({ ...settings, guardrails });
		bench.respond = () => jsonResponse(200, vectors([[1]]));
		await ask(bench, { input: ['safe', 'mail me: ann@example.com'] });
		expect(sentText(bench.sent[0] ?? never())).toMatch(/"input":\["safe","mail me: [^@]+"\]/);
		const blocked = await ask(bench, { input: ['safe', 'a darkfish'] });
		expect([summaryOf(blocked), bench.sent.length]).toEqual(['400 guardrail_blocked', 1]);
	});

	it('cannot read token ids', async () => {
		const bench = new GatewayBench({ ...settings, guardrails: guardrailsWith({ unreadable: 'block' }) });
		expect(summaryOf(await ask(bench, { input: [1, 2] }))).toBe('400 guardrail_blocked');
	});
});

describe('failover', () => {
	const deployment = { provider: 'provider_d', model: 'embed', weight: 1 };
	const large = { provider: 'provider_b', model: 'text-embedding-3-large', weight: 1 };
	const knownAs = { modelCapabilities: { embed: { knownAs: 'text-embedding-3-small' } } };
	const providers = testSettings.providers.map((provider) => (provider.name === 'provider_d' ? { ...provider, ...knownAs } : provider));

	it.each(['priority', 'weighted'] as const)('stays with deployments of the same model, by %s', async (strategy) => {
		const bench = benchWith({ targets: [small, large, deployment], strategy, settings: { providers } });
		bench.respond = () => jsonResponse(500, '{"error":{"message":"no"}}');
		const models = new Set<string>();
		for (let count = 0; count < 12; count++) {
			expect((await ask(bench, { input: 'hi' })).status).toBe(502);
			for (const request of bench.sent.splice(0)) models.add(`${request.target} ${sentText(request).includes('3-large')}`);
		}
		expect([...models].toSorted()).toEqual(['/openai/deployments/embed/embeddings?api-version=2024-10-21 false', '/v1/embeddings false']);
	});

	it('goes to the same model elsewhere', async () => {
		const bench = benchWith({ targets: [small, large, deployment], settings: { providers } });
		bench.respond = ({ origin }) => (origin === 'https://b.test' ? jsonResponse(500, '{}') : jsonResponse(200, vectors([[1]])));
		const response = await ask(bench, { input: 'hi' });
		expect([response.status, response.headers['x-gateway-provider'], bench.sent.length]).toEqual([200, 'provider_d', 2]);
	});
});

describe('budgets', () => {
	it.each(['estimate', 'worst_case'] as const)('reserve input only, and bind under parallel load, by %s', async (reservation) => {
		// Each request costs 20,000 nano-US-dollars.
		const bench = benchWith({ targets: [small], monthlyBudgetUsd: '0.0003', budgets: { reservation } });
		const input = reservation === 'estimate' ? 'word'.repeat(1000) : 'x'.repeat(998);
		bench.respond = (request) => {
			request.onSent?.();
			return jsonResponse(200, vectors([[1]]));
		};
		const responses = await Promise.all(Array.from({ length: 60 }, () => ask(bench, { input })));
		const admitted = responses.filter(({ status }) => status === 200).length;
		expect(responses.filter(({ status }) => status === 429)).toHaveLength(60 - admitted);
		const rows = await rowsOf(bench);
		expect(rows.map(({ reservedNanoUsd }) => reservedNanoUsd)).toEqual(rows.map(() => 20_000n));
		expect([admitted, bench.sent.length]).toEqual([15, 15]);
		expect(await readingOf(bench, 'all')).toEqual(['300000 0']);
	});
});

function never(): never {
	throw new Error('nothing was sent');
}

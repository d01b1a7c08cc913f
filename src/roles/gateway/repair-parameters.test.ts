import { describe, expect, it } from 'vitest';
import { ask as askRule, benchWith as benchWithRule } from '../../../test/support/failover-rig.ts';
import {
	chatPath,
	GatewayBench,
	HandStream,
	jsonResponse,
	messagesPath,
	sentText,
	sseResponse,
	testSettings,
} from '../../../test/support/gateway-bench.ts';
import { guardrailsWith, piiRules } from '../../../test/support/guarded-gateway.ts';
import type { GatewaySettings } from './gateway-settings.ts';

const turns = '"messages":[{"role":"user","content":"hi"}]';
const warnings = 'x-gateway-warnings';
const renamed = 'max_tokens: sent as max_completion_tokens, the name that the model accepts';
const noTemperature = 'temperature: dropped because the model accepts only its default';

function lastSent(bench: GatewayBench): string {
	const request = bench.sent.at(-1);
	if (request === undefined) throw new Error('nothing was sent');
	return sentText(request);
}

/** The Azure deployment `our-gpt`, and an operator's own server without a list of models. */
const providers: GatewaySettings['providers'] = [
	...testSettings.providers.map((provider) =>
		provider.name === 'provider_d' ? { ...provider, modelCapabilities: { 'our-gpt': { knownAs: 'o4-mini' } } } : provider,
	),
	...testSettings.providers
		.filter(({ name }) => name === 'provider_b')
		.map((provider) => ({ ...provider, name: 'own', kind: 'openai-compatible' as const })),
];

describe('parameters that a model rejects', () => {
	it.each([
		['gpt-5', '"gpt-5"'],
		['our-gpt', '"our-gpt"'],
		['fast', '"gpt-5-mini"'],
		['provider_b/o3', '"o3"'],
	])('are repaired for %s, named in the warnings, and no other byte changes', async (model, sentAs) => {
		const bench = new GatewayBench({ providers });
		const response = await bench.ask(chatPath, `{ "model":"${model}","max_tokens" : 50, ${turns} ,"temperature":0.20, "seed": 1e0}`);
		expect(lastSent(bench)).toBe(`{ "model":${sentAs},"max_completion_tokens" : 50, ${turns} ,"seed": 1e0}`);
		expect(response.headers[warnings]).toBe(`${renamed}; ${noTemperature}`);
	});

	it('are repaired in messages to newer Claude models, by the version of the API', async () => {
		const bench = new GatewayBench();
		const given = `{"model":"claude-opus-4-8","max_tokens":9,${turns},"temperature":1,"top_p":0.5}`;
		const older = await bench.ask(messagesPath, given);
		expect(lastSent(bench)).toBe(`{"model":"claude-opus-4-8","max_tokens":9,${turns},"temperature":1}`);
		expect(older.headers[warnings]).toBe('top_p: dropped because the model accepts only its default');
		await bench.ask(messagesPath, given, { 'anthropic-version': '2026-10-21' });
		expect(lastSent(bench)).toBe(`{"model":"claude-opus-4-8","max_tokens":9,${turns}}`);
	});

	it.each([
		['another model', {}, chatPath, `{"model":"gpt-4o","max_tokens":50,"temperature":0.2,${turns}}`],
		['an unknown model of OpenAI', {}, chatPath, `{"model":"gpt-5-secret","max_tokens":50,"temperature":0.2,${turns}}`],
		['a server that only uses the name', { providers }, chatPath, `{"model":"own/gpt-5","max_tokens":50,"temperature":0.2,${turns}}`],
		['Claude models that sample', {}, messagesPath, `{"model":"claude-sonnet-4-5","max_tokens":50,"temperature":0.2,${turns}}`],
		['an unknown Claude model', {}, messagesPath, `{"model":"claude-next-9","max_tokens":50,"temperature":0.2,${turns}}`],
		['a model that needs it, switched off', { repairsParameters: false }, chatPath, `{"model":"o3","max_tokens":50,${turns}}`],
	] as const)('stay for %s', async (_what, settings, path, body) => {
		const bench = new GatewayBench(settings);
		const response = await bench.ask(path, body);
		expect(lastSent(bench)).toBe(body.replace('own/', ''));
		expect(String(response.headers[warnings] ?? '')).not.toMatch(/max_tokens|temperature/);
	});

	it('are repaired where tokens are counted', async () => {
		const bench = new GatewayBench();
		bench.respond = () => jsonResponse(200, '{"input_tokens":14}');
		const given = `{"model":"claude-opus-4-8",${turns},"temperature":0.2}`;
		const counted = await bench.ask('/v1/messages/count_tokens', given);
		expect(lastSent(bench)).toBe(`{"model":"claude-opus-4-8",${turns}}`);
		expect([counted.status, counted.headers[warnings]]).toEqual([200, noTemperature]);
		const plain = await bench.ask('/v1/messages/count_tokens', given.replace('opus-4-8', 'sonnet-4-5'));
		expect(plain.headers).not.toHaveProperty(warnings);
	});

	it('cause no warning if nothing changed', async () => {
		const response = await new GatewayBench().ask(chatPath, `{"model":"gpt-5","max_completion_tokens":50,${turns}}`);
		expect(response.headers).not.toHaveProperty(warnings);
	});

	it('are repaired by the configured capabilities of an unknown model', async () => {
		const record = { 'gpt-5-secret': { tokenParam: 'max_completion_tokens', sampling: 'none' } } as const;
		const own = providers.map((provider) => (provider.name === 'own' ? { ...provider, modelCapabilities: record } : provider));
		const bench = new GatewayBench({ providers: own });
		await bench.ask(chatPath, `{"model":"own/gpt-5-secret","max_tokens":50,"temperature":0.2,${turns}}`);
		expect(lastSent(bench)).toBe(`{"model":"gpt-5-secret","max_completion_tokens":50,${turns}}`);
	});

	it('are repaired for each target separately', async () => {
		const targets = (['gpt-4o', 'o3'] as const).map((model) => ({ provider: 'provider_b', model, weight: 1 }));
		const bench = benchWithRule({ targets });
		bench.respond = (request) => jsonResponse(sentText(request).includes('gpt-4o') ? 500 : 200, '{"id":"x"}');
		const response = await askRule(bench, {}, `{"model":"gpt-4o","max_tokens":50,${turns}}`);
		expect(bench.sent.map(sentText)).toEqual([
			`{"model":"gpt-4o","max_tokens":50,${turns}}`,
			`{"model":"o3","max_completion_tokens":50,${turns}}`,
		]);
		expect([response.status, response.headers[warnings]]).toEqual([200, renamed]);

		const back = benchWithRule({ targets: targets.toReversed() });
		back.respond = (request) => jsonResponse(sentText(request).includes('o3') ? 500 : 200, '{"id":"x"}');
		const unrepaired = await askRule(back, {}, `{"model":"o3","max_tokens":50,${turns}}`);
		expect(sentText(back.sent[1] ?? neverCalled())).toBe(`{"model":"gpt-4o","max_tokens":50,${turns}}`);
		expect(unrepaired.headers).not.toHaveProperty(warnings);
	});
});

function neverCalled(): never {
	throw new Error('the second target was not called');
}

describe('a repaired request', () => {
	const limited = { requestsPerMinute: null, dailyTokens: null, monthlyBudgetUsd: '1000000' };
	const worst: Partial<GatewaySettings> = {
		tiers: { sandbox: limited, standard: limited },
		budgets: { ...testSettings.budgets, reservation: 'worst_case' },
	};

	it('gets the cap of a budget under its new name', async () => {
		const bench = new GatewayBench(worst);
		await bench.ask(chatPath, `{"model":"gpt-5","max_tokens":900000000,${turns},"temperature":0}`);
		expect(lastSent(bench)).toBe(`{"model":"gpt-5","max_completion_tokens":128000,${turns}}`);
		await bench.ask(chatPath, `{"model":"gpt-5","temperature":0,${turns}}`);
		expect(lastSent(bench)).toBe(`{"model":"gpt-5",${turns},"max_completion_tokens":128000}`);
	});

	it('reserves by the cap that is left of two', async () => {
		const bench = new GatewayBench(worst);
		await bench.ask(chatPath, `{"model":"gpt-5","max_tokens":5000,"max_completion_tokens":10,${turns}}`, {}, { id: 'two' });
		await bench.ask(chatPath, `{"model":"gpt-5","max_completion_tokens":10,${turns}          }`, {}, { id: 'one' });
		await bench.gateway.settled();
		const [one, two] = (await bench.ledger.list({ limit: 2 })).rows.map(({ reservedNanoUsd }) => reservedNanoUsd);
		// Both have 10 output tokens; their bytes differ by a few.
		expect(Number(two) / Number(one)).toBeLessThan(1.1);
	});

	it('gets the usage option of its stream', async () => {
		const bench = new GatewayBench();
		bench.respond = () => sseResponse(new HandStream());
		await bench.ask(chatPath, `{"stream":true,"top_p":0.5,"max_tokens":5,"model":"gpt-5",${turns}}`);
		expect(JSON.parse(lastSent(bench))).toEqual({
			stream: true,
			max_completion_tokens: 5,
			model: 'gpt-5',
			messages: [{ role: 'user', content: 'hi' }],
			stream_options: { include_usage: true },
		});
	});

	it('keeps guardrail masks, and loses vendor-specific fields', async () => {
		const bench = new GatewayBench({ guardrails: guardrailsWith({ pii: piiRules('none', { email: 'mask' }) }) });
		const past = '{"role":"assistant","content":"x","reasoning_content":"r"}';
		const response = await bench.ask(
			chatPath,
			`{"max_tokens":5,"model":"gpt-5","messages":[${past},{"role":"user","content":"mail jo@example.com"}],"temperature":0.1}`,
		);
		expect(lastSent(bench)).toMatch(
			/^\{"max_completion_tokens":5,"model":"gpt-5","messages":\[\{"role":"assistant","content":"x"\},\{"role":"user","content":"mail (?!jo@)[^"]+"\}\]\}$/,
		);
		expect(response.headers[warnings]).toBe(`${renamed}; ${noTemperature}`);
	});
});

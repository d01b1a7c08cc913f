import { describe, expect, it } from 'vitest';
import { benchWith, claude, gpt } from '../../../test/support/failover-rig.ts';
import { errorOf, GatewayBench, jsonResponse, summaryOf, testSettings, testTraffic, textOf } from '../../../test/support/gateway-bench.ts';
import { guardrailsWith, piiRules } from '../../../test/support/guarded-gateway.ts';
import { UpstreamError } from '../../core/upstream-error.ts';

const path = '/v1/messages/count_tokens';
const body = JSON.stringify({ model: 'claude-x', messages: [{ role: 'user', content: 'How many tokens are these?' }] });
const of = (model: string): string => body.replace('claude-x', model);

function sentBody({ sent }: GatewayBench): string {
	const bytes = sent[0]?.body;
	return Buffer.isBuffer(bytes) ? bytes.toString() : '';
}

function limited(requestsPerMinute: number): GatewayBench {
	const tier = { requestsPerMinute, dailyTokens: null, monthlyBudgetUsd: '0' };
	return new GatewayBench({ tiers: { sandbox: tier, standard: tier } });
}

describe('counting tokens', () => {
	it('is done by a provider that can: the client’s bytes there, the provider’s bytes back', async () => {
		const bench = new GatewayBench();
		bench.respond = () => jsonResponse(200, '{"input_tokens": 14}');
		const response = await bench.ask(`${path}?beta=true`, body, { 'anthropic-beta': 'x' });
		expect([response.status, textOf(response), response.headers['x-gateway-warnings']]).toEqual([200, '{"input_tokens": 14}', undefined]);
		expect(bench.sent).toHaveLength(1);
		expect(bench.sent[0]).toMatchObject({ origin: 'https://a.test', target: `${path}?beta=true`, headers: { 'anthropic-beta': 'x' } });
		expect(sentBody(bench)).toBe(body);
	});

	it('is JSON even for a streaming request', async () => {
		const bench = new GatewayBench();
		bench.respond = () => jsonResponse(200, '{"input_tokens": 14}');
		const response = await bench.ask(path, body.replace('{', '{"stream":true,'));
		expect([response.status, textOf(response)]).toEqual([200, '{"input_tokens": 14}']);
	});

	it('has an alias replaced by the model’s name, and nothing else', async () => {
		const bench = new GatewayBench({ routing: { ...testSettings.routing, aliases: { smart: 'provider_a/claude-sonnet-4-5' } } });
		bench.respond = () => jsonResponse(200, '{"input_tokens": 14}');
		await bench.ask(path, of('smart'));
		expect(sentBody(bench)).toBe(of('claude-sonnet-4-5'));
	});

	it.each(['gpt-5', 'gemini-3', 'our-gpt'])('is estimated for %s, and marked, without an upstream request', async (model) => {
		const bench = new GatewayBench();
		const response = await bench.ask(path, of(model));
		const reported = JSON.parse(textOf(response)) as Record<string, number>;
		expect([response.status, Object.keys(reported), bench.sent]).toEqual([200, ['input_tokens'], []]);
		expect(reported['input_tokens']).toBeGreaterThan(10);
		expect(response.headers['x-gateway-warnings']).toBe("input_tokens: estimated because the model's provider cannot count tokens");
	});

	it('uses none of the minute’s requests but one of ten times as many counts, needs no budget and writes no entry', async () => {
		const bench = limited(2);
		bench.respond = () => jsonResponse(200, '{"input_tokens": 14}');
		for (let count = 0; count < 20; count++) {
			const response = await bench.ask(path, body, {}, { id: `count-${count}` });
			expect([response.status, response.headers['x-ratelimit-remaining-requests']]).toEqual([200, '2']);
		}
		const rejected = await bench.ask(path, body, {}, { id: 'one-more' });
		expect(summaryOf(rejected)).toBe('429 rpm_limit_exceeded');
		expect(errorOf(rejected).error.message).toBe('RPM limit exceeded (20/20 requests per minute)');
		expect(rejected.headers['x-ratelimit-remaining-requests']).toBe('2');
		expect((await bench.ledger.list({ limit: 9 })).rows).toEqual([]);
		const spare = limited(1);
		spare.respond = () => jsonResponse(200, '{"input_tokens": 14}');
		for (const id of ['one', 'two']) expect((await spare.ask(path, body, {}, { id })).status).toBe(200);
	});

	it('gets a response before the counters know that it is over, and the process waits for them before it exits', async () => {
		const bench = new GatewayBench();
		const released = Promise.withResolvers<void>();
		bench.admission.release = () => released.promise;
		expect((await bench.ask(path, of('gpt-5'))).status).toBe(200);
		let isSettled = false;
		const settled = bench.gateway.settled().then(() => (isSettled = true));
		await new Promise((resolve) => setImmediate(resolve));
		expect(isSettled).toBe(false);
		released.resolve();
		await settled;
		expect(bench.log.lines.filter(({ level }) => level === 'error')).toEqual([]);
	});

	it('gets a response even if the counters are unreachable, and that is logged', async () => {
		const bench = new GatewayBench();
		bench.admission.release = () => Promise.reject(new Error('nonsense'));
		expect((await bench.ask(path, of('gpt-5'), {}, { id: 'one' })).status).toBe(200);
		await bench.gateway.settled();
		const fields = expect.objectContaining({ requestId: 'one', team: 'team-1' }) as unknown;
		expect(bench.log.lines).toContainEqual(expect.objectContaining({ level: 'error', fields }));
	});

	it('is sent once, and does not affect the provider’s health', async () => {
		const traffic = { ...testTraffic, retries: 2, ejectAfterFailures: 1 };
		const bench = new GatewayBench({ providers: testSettings.providers.map((provider) => ({ ...provider, traffic })) });
		bench.respond = () => jsonResponse(500, '{"error":{"message":"no"}}');
		expect((await bench.ask(path, body)).status).toBe(502);
		expect([bench.sent.length, bench.traffic.of('provider_a').health.isEjected]).toEqual([1, false]);
	});

	it('fails over from target to target as one count, and is estimated if the next one does not count', async () => {
		const bench = benchWith({ targets: [claude, gpt] });
		bench.respond = () => jsonResponse(500, '{"error":{"message":"no"}}');
		const admitted: string[] = [];
		const { admit } = bench.admission;
		bench.admission.admit = (request) => {
			admitted.push(request.team);
			return admit(request);
		};
		const response = await bench.ask(path, body);
		expect([response.status, response.headers['x-gateway-provider'], response.record?.upstreamStatus]).toEqual([
			200,
			'provider_b',
			undefined,
		]);
		expect(response.headers['x-gateway-warnings']).toMatch(/^input_tokens: estimated/);
		expect([admitted, bench.sent.length]).toEqual([[':count_tokens:team-1'], 1]);
		expect(bench.log.lines.filter(({ event }) => event === 'failover to the next target')).toHaveLength(1);
		await bench.gateway.settled();
	});

	it('fails like other requests', async () => {
		const bench = new GatewayBench();
		expect(errorOf(await bench.ask(path, '{"model":"claude-x"}')).error.param).toBe('messages');
		expect((await bench.ask(path, body, { authorization: 'Bearer bad' })).status).toBe(401);
		expect((await bench.ask(path, '', {}, { method: 'GET' })).status).toBe(405);
		bench.respond = () => jsonResponse(401, '{"error":{"message":"sk-ant-secret-key-0001"}}');
		const rejected = await bench.ask(path, body, { accept: 'application/json' });
		expect([rejected.status, rejected.headers['x-should-retry'], textOf(rejected)]).toEqual([502, 'false', '{"error":{"message":"***"}}']);
		bench.respond = () => jsonResponse(400, '{"error":{"message":"no"}}');
		expect((await bench.ask(path, body)).status).toBe(400);
		bench.respond = () => {
			throw new UpstreamError('provider_first_byte_timeout');
		};
		expect((await bench.ask(path, body, { accept: 'application/json' })).status).toBe(504);
		expect([bench.gateway.inFlightRequests(), bench.traffic.of('provider_a').concurrency.inFlight]).toEqual([0, 0]);
	});

	it.each([
		['a page', 200, { 'content-type': 'text/html' }, '<html>', '200 with `text/html`'],
		['JSON that is no object', 200, {}, '[14]', 'not a JSON object'],
		['a redirect', 302, { location: 'https://elsewhere.test/' }, '', '302'],
	] as const)('does not pass %s on as a count', async (_name, status, headers, reported, why) => {
		const bench = new GatewayBench();
		bench.respond = () => jsonResponse(status, reported, headers);
		const response = await bench.ask(path, body);
		expect([summaryOf(response), response.headers['location']]).toEqual(['502 provider_response_invalid', undefined]);
		expect(textOf(response)).toContain(why);
		expect([bench.gateway.inFlightRequests(), bench.traffic.of('provider_a').concurrency.inFlight]).toEqual([0, 0]);
	});

	it('is screened like the request itself: the prompt goes to the vendor', async () => {
		const guardrails = guardrailsWith({ pii: piiRules('none', { card: 'block', email: 'mask' }) });
		const requesting = (text: string): string => body.replace('How many tokens are these?', text);
		for (const model of ['claude-x', 'gpt-5']) {
			const blocked = new GatewayBench({ guardrails });
			const response = await blocked.ask(path, requesting('4111 1111 1111 1111').replace('claude-x', model));
			expect([summaryOf(response), blocked.sent]).toEqual(['400 guardrail_blocked', []]);
		}
		const masked = new GatewayBench({ guardrails });
		masked.respond = () => jsonResponse(200, '{"input_tokens": 14}');
		await masked.ask(path, requesting('mail jane@example.com'));
		expect(sentBody(masked)).toBe(requesting('mail [EMAIL]'));
		const observed = new GatewayBench({ guardrails: { ...guardrails, isEnforced: false } });
		observed.respond = () => jsonResponse(200, '{"input_tokens": 14}');
		await observed.ask(path, requesting('mail jane@example.com'));
		expect(sentBody(observed)).toBe(requesting('mail jane@example.com'));
		for (let round = 0; round < 20; round++) {
			observed.clock.advance(5);
			await new Promise((resolve) => setImmediate(resolve));
		}
		expect(observed.log.lines).toContainEqual(
			expect.objectContaining({ fields: expect.objectContaining({ stage: 'input', category: 'email', action: 'NONE' }) as unknown }),
		);
	});
});

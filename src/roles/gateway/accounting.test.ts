import { describe, expect, it } from 'vitest';
import {
	chatBody,
	chatPath,
	errorOf,
	GatewayBench,
	HandStream,
	jsonResponse,
	messagesBody,
	messagesPath,
	readStream,
	settle,
	sseResponse,
	summaryOf,
	teamDirectory,
	testSettings,
	textOf,
} from '../../../test/support/gateway-bench.ts';
import { guardrailsWith } from '../../../test/support/guarded-gateway.ts';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import { createMemoryLedger } from '../../../test/support/memory-ledger.ts';
import { plainBudget } from '../../core/budget.ts';
import type { HttpResponse } from '../../core/handler.ts';
import { UpstreamError } from '../../core/upstream-error.ts';
import { periodOf } from '../../policy/limits/utc-time.ts';
import { CountersUnreachable } from '../../stores/contracts/admission.ts';
import type { Ledger, LedgerEntry } from '../../stores/contracts/ledger.ts';
import { createMemoryAdmission } from '../../stores/memory/memory-admission.ts';
import { restoreMissing } from '../../stores/restoring-admission.ts';
import type { BudgetSettings, GatewayPorts, GatewaySettings, TeamDirectory } from './gateway-settings.ts';

const usage = { prompt_tokens: 1000, completion_tokens: 500, total_tokens: 1500 };
/** Cost of 1000 input and 500 output tokens at gpt-5's list price of 1.25 and 10 USD. */
const costOfUsage = 6_250_000n;
const respondWithUsage = JSON.stringify({ id: 'x', choices: [], usage });

function tiers(standard: Partial<GatewaySettings['tiers'][string]>): GatewaySettings['tiers'] {
	const unlimited = { requestsPerMinute: null, dailyTokens: null, monthlyBudgetUsd: null };
	return { sandbox: unlimited, standard: { ...unlimited, ...standard } };
}

function budgets(settings: Partial<BudgetSettings>): BudgetSettings {
	return { ...testSettings.budgets, ...settings };
}

function teams(more: Partial<TeamDirectory>): Partial<GatewayPorts> {
	return { teams: teamDirectory(more) };
}

let requested = 0;

/** Sends a request with a unique id, like those of the server. */
function ask(bench: GatewayBench, path: string, body: string): Promise<HttpResponse> {
	return bench.ask(path, body, {}, { id: `request-${++requested}` });
}

function sentBody(bench: GatewayBench, index: number): string {
	const body = bench.sent[index]?.body;
	return Buffer.isBuffer(body) ? body.toString() : '';
}

async function rowsOf(bench: GatewayBench): Promise<readonly LedgerEntry[]> {
	await bench.gateway.settled();
	return (await bench.ledger.list({ limit: 100 })).rows;
}

async function spentOf(bench: GatewayBench): Promise<{ settled: bigint; reserved: bigint }> {
	await bench.gateway.settled();
	const period = periodOf(bench.clock.nowMs());
	const [reading] = (await bench.admission.read('team-1', [{ budget: 'all', period }])).budgets;
	return { settled: reading?.settledNanoUsd ?? -1n, reserved: reading?.reservedNanoUsd ?? -1n };
}

describe('an admitted request', () => {
	it('has one ledger entry, open while it runs and closed with the usage that the provider reported', async () => {
		const bench = new GatewayBench();
		let entryWhileRunning: LedgerEntry | undefined;
		bench.respond = async () => {
			[entryWhileRunning] = (await bench.ledger.list({ limit: 1 })).rows;
			return jsonResponse(200, respondWithUsage);
		};
		const response = await ask(bench, chatPath, chatBody);
		expect(response.record).toMatchObject({ inputTokens: 1000, outputTokens: 500, costNanoUsd: costOfUsage });
		expect(entryWhileRunning).toMatchObject({ team: 'team-1', clientId: 'client-1', model: 'gpt-5', closed: undefined });
		const rows = await rowsOf(bench);
		expect(rows[0]?.priceVersion).toMatch(/^default:\d{4}-\d{2}-\d{2}$/);
		expect(rows).toMatchObject([
			{
				provider: 'provider_b',
				dialect: 'chat',
				isStreaming: false,
				closed: { outcome: 'complete', status: 200, isEstimated: false, costNanoUsd: costOfUsage },
			},
		]);
	});

	it('costs nothing if the provider rejects it, and is counted anyway', async () => {
		const bench = new GatewayBench({ tiers: tiers({ requestsPerMinute: 5, monthlyBudgetUsd: '1.00' }) });
		for (const status of [400, 429, 500]) {
			bench.respond = () => jsonResponse(status, '{"error":{"message":"no"}}');
			const response = await ask(bench, chatPath, chatBody);
			expect(response.headers['x-ratelimit-limit-requests']).toBe('5');
		}
		expect((await rowsOf(bench)).map(({ closed }) => [closed?.outcome, closed?.costNanoUsd])).toEqual([
			['upstream_error', 0n],
			['upstream_error', 0n],
			['upstream_error', 0n],
		]);
		expect(await spentOf(bench)).toEqual({ settled: 0n, reserved: 0n });
	});

	it.each([
		[400, 'gpt-5', '{"error":{"message":"no"}}', 400],
		[401, 'gpt-5', '{"error":{"message":"no"}}', 502],
		[404, 'gpt-5', '{"error":{"message":"no"}}', 502],
		[500, 'gpt-5', '', 502],
		[400, 'gemini-3-pro', '[{"error":{"code":400,"status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}]', 502],
		[529, 'claude-x', '{"type":"error","error":{"type":"overloaded_error","message":"no"}}', 502],
	])('a provider’s %i from %s has the status in its entry that the client got', async (status, model, body, texts) => {
		const bench = new GatewayBench();
		bench.respond = () => jsonResponse(status, body);
		expect((await ask(bench, chatPath, chatBody.replace('gpt-5', model))).status).toBe(texts);
		expect((await rowsOf(bench)).map(({ closed }) => [closed?.outcome, closed?.status])).toEqual([['upstream_error', texts]]);
	});

	it.each([undefined, true, false])(
		'a response that cannot be translated is charged, and not a success in its entry: guardrails enforced %s',
		async (isEnforced) => {
			const bench = new GatewayBench(isEnforced === undefined ? {} : { guardrails: guardrailsWith({ isEnforced }) });
			bench.respond = () => jsonResponse(200, '{"type":"message","usage":{"input_tokens":1000,"output_tokens":500},}');
			expect(summaryOf(await ask(bench, chatPath, chatBody.replace('gpt-5', 'claude-sonnet-4-5')))).toBe('502 provider_response_invalid');
			const closed = (await rowsOf(bench)).map((entry) => entry.closed);
			expect(closed).toMatchObject([
				{ outcome: 'complete', status: 502, usage: { inputTokens: 1000, outputTokens: 500 }, isEstimated: false },
			]);
		},
	);

	it('releases everything if it never reached the provider', async () => {
		const bench = new GatewayBench({ tiers: tiers({ monthlyBudgetUsd: '1.00' }) });
		bench.respond = () => Promise.reject(new UpstreamError('provider_unreachable'));
		expect((await ask(bench, chatPath, chatBody)).status).toBe(502);
		expect((await rowsOf(bench)).map(({ closed }) => [closed?.outcome, closed?.status, closed?.costNanoUsd])).toEqual([
			['not_sent', 502, 0n],
		]);
		expect(await spentOf(bench)).toEqual({ settled: 0n, reserved: 0n });
	});

	it('is charged its reservation if it was sent and its result is unknown', async () => {
		const bench = new GatewayBench({ tiers: tiers({ monthlyBudgetUsd: '1.00' }) });
		bench.respond = (request) => {
			request.onSent?.();
			return Promise.reject(new UpstreamError('provider_first_byte_timeout'));
		};
		expect((await ask(bench, chatPath, chatBody)).status).toBe(504);
		const [entry] = await rowsOf(bench);
		expect(entry?.closed).toMatchObject({ outcome: 'broken', status: 504, isEstimated: true, costNanoUsd: entry?.reservedNanoUsd });
		expect(entry?.reservedNanoUsd).toBeGreaterThan(0n);
		expect(await spentOf(bench)).toEqual({ settled: entry?.reservedNanoUsd, reserved: 0n });
	});

	it('is rejected while its counters can be neither read nor restored', async () => {
		const clock = new ManualClock();
		const sumUp = (): Promise<never> => Promise.reject(new UpstreamError('records_unavailable'));
		const admission = restoreMissing(createMemoryAdmission({ clock }), { clock, sumUp, endedSinceMs: () => 0 });
		const bench = new GatewayBench({}, { admission });
		expect(summaryOf(await bench.ask(chatPath, chatBody))).toBe('503 records_unavailable');
		expect(bench.sent).toEqual([]);
	});

	it('is not sent if its entry cannot be written', async () => {
		const ledger = {
			open: () => Promise.reject(new UpstreamError('records_unavailable')),
			close: () => Promise.reject(new Error('never')),
			assess: () => undefined,
		};
		const bench = new GatewayBench({ tiers: tiers({ monthlyBudgetUsd: '1.00' }) }, { ledger });
		const response = await ask(bench, chatPath, chatBody);
		expect([summaryOf(response), response.headers['retry-after']]).toEqual(['503 records_unavailable', '1']);
		expect(bench.sent).toEqual([]);
		expect(await spentOf(bench)).toEqual({ settled: 0n, reserved: 0n });
	});
});

describe('a request whose entry proves to be lost when it is about to be sent', () => {
	it('is not sent, costs nothing, and is no failure of its provider', async () => {
		const retained = createMemoryLedger();
		const failure = new UpstreamError('records_unavailable');
		const ledger: Ledger = {
			...retained,
			open(entry) {
				void retained.open(entry);
				return { failure };
			},
		};
		const bench = new GatewayBench({ tiers: tiers({ monthlyBudgetUsd: '1.00' }) }, { ledger });
		let remaining = 0;
		bench.respond = (request) => {
			request.onSent?.();
			remaining++;
			return jsonResponse(200, respondWithUsage);
		};
		expect([summaryOf(await ask(bench, chatPath, chatBody)), bench.sent.length, remaining]).toEqual(['503 records_unavailable', 1, 0]);
		await bench.gateway.settled();
		const { rows } = await retained.list({ limit: 9 });
		expect(rows.map(({ closed }) => [closed?.outcome, closed?.status, closed?.costNanoUsd])).toEqual([['not_sent', 503, 0n]]);
		expect(await spentOf(bench)).toEqual({ settled: 0n, reserved: 0n });
	});
});

describe('a rejected request', () => {
	it('by requests a minute: the spec’s body, true header fields, no entry, no provider', async () => {
		const bench = new GatewayBench({ tiers: tiers({ requestsPerMinute: 2 }) });
		const remaining: unknown[] = [];
		for (let inferenceRequest = 0; inferenceRequest < 2; inferenceRequest++) {
			remaining.push((await ask(bench, chatPath, chatBody)).headers['x-ratelimit-remaining-requests']);
		}
		const rejected = await ask(bench, chatPath, chatBody);
		expect(remaining).toEqual(['1', '0']);
		expect([rejected.status, rejected.headers['x-ratelimit-remaining-requests']]).toEqual([429, '0']);
		const reason = 'RPM limit exceeded (2/2 requests per minute)';
		const retryAfterSeconds = Number(rejected.headers['retry-after']);
		expect(JSON.parse(textOf(rejected))).toMatchObject({
			error: { type: 'rate_limit_error', code: 'rpm_limit_exceeded', message: reason },
			allowed: false,
			reason,
			retry_after_seconds: retryAfterSeconds,
		});
		expect([(await rowsOf(bench)).length, bench.sent.length]).toEqual([2, 2]);
		bench.clock.advance(retryAfterSeconds * 1000);
		expect((await ask(bench, chatPath, chatBody)).status).toBe(200);
	});

	it('with the limits under the names of Anthropic too, on its endpoints', async () => {
		const bench = new GatewayBench({ tiers: tiers({ requestsPerMinute: 2, dailyTokens: 1_000_000 }) });
		const provider = { 'anthropic-ratelimit-requests-limit': '4000', 'anthropic-ratelimit-input-tokens-limit': '5000' };
		bench.respond = () => jsonResponse(200, respondWithUsage, provider);
		const limitsOf = ({ headers }: HttpResponse) =>
			Object.entries(headers).flatMap(([name, value]) => (name.startsWith('anthropic-ratelimit-requests') ? [value] : []));
		const served = await ask(bench, messagesPath, messagesBody);
		expect([served.status, served.headers['anthropic-ratelimit-tokens-limit']]).toEqual([200, '1000000']);
		expect(Object.keys(served.headers)).not.toContain('anthropic-ratelimit-input-tokens-limit');
		expect(served.headers['x-ratelimit-limit-requests']).toBe('2');
		expect(limitsOf(served)).toEqual(['2', '1', '2026-01-01T00:01:00Z']);
		const invalid = await ask(bench, messagesPath, '{');
		expect([invalid.status, limitsOf(invalid)]).toEqual([400, ['2', '1', '2026-01-01T00:01:00Z']]);
		expect(limitsOf(await ask(bench, chatPath, chatBody))).toEqual([]);
		const rejected = await ask(bench, messagesPath, messagesBody);
		expect([rejected.status, limitsOf(rejected)]).toEqual([429, ['2', '0', '2026-01-01T00:01:00Z']]);
	});

	it('by tokens a day, once they are used up', async () => {
		const bench = new GatewayBench({ tiers: tiers({ dailyTokens: 1500 }) });
		bench.respond = () => jsonResponse(200, respondWithUsage);
		expect((await ask(bench, chatPath, chatBody)).status).toBe(200);
		await bench.gateway.settled();
		const rejected = await ask(bench, chatPath, chatBody);
		expect(errorOf(rejected).error.message).toBe('Daily token limit exceeded (1500/1500 tokens per day)');
		expect([rejected.status, rejected.headers['x-ratelimit-remaining-tokens'], bench.sent.length]).toEqual([429, '0', 1]);
	});

	it('by the budget of its tier, with `action: reject`', async () => {
		const bench = new GatewayBench({ tiers: tiers({ monthlyBudgetUsd: '0.00625' }) });
		bench.respond = () => jsonResponse(200, respondWithUsage);
		await ask(bench, chatPath, chatBody);
		await bench.gateway.settled();
		const rejected = await ask(bench, chatPath, chatBody);
		expect([rejected.status, bench.sent.length, rejected.headers['x-should-retry']]).toEqual([429, 1, 'false']);
		expect(JSON.parse(textOf(rejected))).toMatchObject({ action: 'reject', error: { code: 'budget_exceeded' } });
	});

	it('by the budget of a model, which limits that model only', async () => {
		const budget = { ...plainBudget, id: 'cap', model: 'gpt-5', limitNanoUsd: 1n, warningThresholdPercent: 80, hardLimitPercent: 100 };
		const bench = new GatewayBench({}, teams({ budgetsFor: (_, { model }) => (model === 'gpt-5' ? [budget] : []) }));
		bench.respond = () => jsonResponse(200, respondWithUsage);
		await ask(bench, chatPath, chatBody);
		await bench.gateway.settled();
		expect(summaryOf(await ask(bench, chatPath, chatBody))).toBe('429 model_budget_exceeded');
		expect((await ask(bench, chatPath, chatBody.replace('gpt-5', 'gpt-4o'))).status).toBe(200);
	});

	it('by the budget of a model, under whatever name the model is requested', async () => {
		const lookups: (readonly [string, string | undefined])[] = [];
		const budgetsFor: TeamDirectory['budgetsFor'] = (_, { model, listed }) => {
			lookups.push([model, listed]);
			return [];
		};
		const bench = new GatewayBench({}, teams({ budgetsFor }));
		bench.respond = () => jsonResponse(200, respondWithUsage);
		for (const model of ['gpt-4o-mini-2024-07-18', 'provider_c/models/gemini-2.5-flash', 'provider_c/gemini-2.5-flash']) {
			await ask(bench, chatPath, chatBody.replace('gpt-5', model));
		}
		expect(lookups).toEqual([
			['gpt-4o-mini-2024-07-18', 'gpt-4o-mini'],
			['gemini-2.5-flash', 'gemini-2.5-flash'],
			['gemini-2.5-flash', 'gemini-2.5-flash'],
		]);
		const models = (await rowsOf(bench)).map(({ model }) => model).toSorted();
		expect(models).toEqual(['gemini-2.5-flash', 'gemini-2.5-flash', 'gpt-4o-mini-2024-07-18']);
	});

	it.each([
		['"service_tier":"priority"', 400],
		['"service_tier":"default"', 200],
		['"service_tier":"flex"', 200],
		['"speed":"fast"', 400],
		['"inference_geo":"us"', 400],
		['"service_tier":null', 200],
	])('by %s, if a request must not cost more than it reserves: %i', async (field, status) => {
		const worst = { tiers: tiers({ monthlyBudgetUsd: '1000' }), budgets: budgets({ reservation: 'worst_case' }) };
		const override = { model: 'gpt-5', version: 1, inputPicoUsd: 1n, outputPicoUsd: 1n, cacheReadPicoUsd: 1n, cacheWritePicoUsd: 1n };
		const surcharged = chatBody.replace('{', `{${field},`);
		for (const [bench, expected] of [
			[new GatewayBench(worst), status],
			[new GatewayBench(worst, teams({ priceOverride: () => override })), 200],
			[new GatewayBench({ ...worst, budgets: budgets({}) }), 200],
			[new GatewayBench({ budgets: budgets({ reservation: 'worst_case' }) }), 200],
		] as const) {
			bench.respond = () => jsonResponse(200, respondWithUsage);
			const response = await ask(bench, chatPath, surcharged);
			expect(response.status).toBe(expected);
			if (expected === 400) expect(errorOf(response)).toMatchObject({ error: { code: 'field_invalid', param: /\w+/.exec(field)?.[0] } });
		}
	});

	it('by an unknown price, if that is rejected; otherwise it is logged once and charged as configured', async () => {
		const unknown = chatBody.replace('gpt-5', 'house-model');
		const strict = new GatewayBench({ budgets: budgets({ unknownPrice: 'reject' }) });
		expect(summaryOf(await ask(strict, chatPath, unknown))).toBe('400 model_unpriced');
		for (const [unknownPrice, cost, version, warning] of [
			['allow', 0n, 'unpriced', 'model: has no price, its cost is recorded at $0'],
			['default_rate', 35_000_000n, 'default_rate', 'model: has no price, its cost is recorded at budgets.default_rate'],
		] as const) {
			const bench = new GatewayBench({ budgets: budgets({ unknownPrice }) });
			bench.respond = () => jsonResponse(200, respondWithUsage);
			expect((await ask(bench, chatPath, unknown)).headers['x-gateway-warnings']).toBe(warning);
			await ask(bench, chatPath, unknown);
			expect((await rowsOf(bench)).map((entry) => [entry.priceVersion, entry.closed?.costNanoUsd])).toEqual([
				[version, cost],
				[version, cost],
			]);
			expect(bench.log.lines.filter(({ event }) => event.startsWith('model without a price'))).toHaveLength(1);
			expect((await ask(bench, chatPath, chatBody)).headers['x-gateway-warnings']).toBeUndefined();
		}
	});
});

describe('a budget', () => {
	it('warns once when its threshold is crossed', async () => {
		const bench = new GatewayBench({ tiers: tiers({ monthlyBudgetUsd: '0.02' }) });
		bench.respond = () => jsonResponse(200, respondWithUsage);
		for (let inferenceRequest = 0; inferenceRequest < 5; inferenceRequest++) {
			await ask(bench, chatPath, chatBody);
			await bench.gateway.settled();
		}
		const warnings = bench.log.lines.filter(({ event }) => event === 'budget warning');
		expect(warnings).toMatchObject([{ level: 'warn', fields: { team: 'team-1', budget: 'tier-standard', percent: 80 } }]);
	});

	it('is ignored if budgets are switched off', async () => {
		const bench = new GatewayBench({ tiers: tiers({ monthlyBudgetUsd: '0' }), budgets: budgets({ isEnabled: false }) });
		expect((await ask(bench, chatPath, chatBody)).status).toBe(200);
	});

	it('with worst-case reservations is never exceeded: the request gets a cap, and is rejected before it could exceed', async () => {
		const bench = new GatewayBench({ tiers: tiers({ monthlyBudgetUsd: '1.00' }), budgets: budgets({ reservation: 'worst_case' }) });
		expect(summaryOf(await ask(bench, chatPath, chatBody))).toBe('429 budget_exceeded');
		expect(bench.sent).toEqual([]);
		const roomy = new GatewayBench({ tiers: tiers({ monthlyBudgetUsd: '5.00' }), budgets: budgets({ reservation: 'worst_case' }) });
		const whole = await ask(roomy, chatPath, chatBody);
		expect([whole.status, whole.headers['x-gateway-warnings']]).toEqual([200, 'the output is capped at 128000 tokens, for a budget']);
		expect(JSON.parse(sentBody(roomy, 0))).toMatchObject({ model: 'gpt-5', max_completion_tokens: 128_000 });
		const capped = messagesBody.replace('{', '{"top_k":3,');
		expect((await ask(roomy, messagesPath, capped)).status).toBe(200);
		expect(sentBody(roomy, 1)).toBe(capped);
	});

	it.each(['extend', 'stop'] as const)('that a stream exceeds: %s', async (onStreamOver) => {
		const bench = new GatewayBench({ tiers: tiers({ monthlyBudgetUsd: '0.02' }), budgets: budgets({ onStreamOver }) });
		const upstream = new HandStream();
		bench.respond = () => sseResponse(upstream);
		const { reader } = readStream(await ask(bench, chatPath, chatBody.replace('{', '{"stream":true,')));
		const event = `data: {"choices":[{"index":0,"delta":{"content":"${'word '.repeat(400)}"}}]}\n\n`;
		for (let sent = 0; sent < 12 && reader.ending === 'open'; sent++) {
			upstream.write(event);
			await settle();
		}
		expect(reader.ending).toBe(onStreamOver === 'stop' ? 'ended' : 'open');
		if (onStreamOver === 'stop') expect(reader.text).toMatch(/data: \{"error":\{[^\n]*"code":"budget_exceeded"[^\n]*\n\n$/);
		else upstream.sink?.fail(new UpstreamError('provider_disconnected'));
		const [entry] = await rowsOf(bench);
		expect(entry?.closed).toMatchObject({ outcome: 'broken', isEstimated: true });
		expect(entry?.closed?.usage.outputTokens).toBeGreaterThanOrEqual(1000);
	});
});

describe('a stream', () => {
	const chunk = (text: string): string => `data: {"choices":[{"index":0,"delta":{"content":"${text}"}}],"usage":null}\n\n`;
	const usageChunk = `data: {"choices":[],"usage":${JSON.stringify(usage)}}\n\n`;
	const done = 'data: [DONE]\n\n';

	it('gets the usage option, and a client that did not request usage never sees it', async () => {
		const bench = new GatewayBench();
		const upstream = new HandStream();
		bench.respond = () => sseResponse(upstream);
		const { reader } = readStream(await ask(bench, chatPath, chatBody.replace('{', '{"stream":true,')));
		expect(JSON.parse(sentBody(bench, 0))).toMatchObject({ stream_options: { include_usage: true } });
		for (const part of [chunk('Hello'), usageChunk, done]) upstream.write(part);
		upstream.sink?.end();
		expect(reader.text).toBe(`${chunk('Hello').replace(',"usage":null', '')}${done}`);
		expect((await rowsOf(bench))[0]?.closed).toMatchObject({ outcome: 'complete', costNanoUsd: costOfUsage, isEstimated: false });
	});

	it('that is cut before its usage is charged from what was delivered, never nothing', async () => {
		const bench = new GatewayBench();
		const upstream = new HandStream();
		bench.respond = () => sseResponse(upstream);
		const { flow } = readStream(await ask(bench, chatPath, chatBody.replace('{', '{"stream":true,')));
		for (let part = 0; part < 40; part++) upstream.write(chunk('four'));
		flow.cancel();
		const [entry] = await rowsOf(bench);
		expect(entry?.closed).toMatchObject({ outcome: 'client_closed', isEstimated: true });
		expect(entry?.closed?.usage.outputTokens).toBeGreaterThanOrEqual(40);
		expect(entry?.closed?.costNanoUsd).toBeGreaterThan(0n);
	});

	it('of a provider that rejects the usage option does not get it', async () => {
		const providers = testSettings.providers.map((provider) => ({ ...provider, requestsStreamUsage: false }));
		const bench = new GatewayBench({ providers });
		const body = chatBody.replace('{', '{"stream":true,');
		bench.respond = () => sseResponse(new HandStream());
		await ask(bench, chatPath, body);
		expect(sentBody(bench, 0)).toBe(body);
	});
});

describe('GET /v1/limits', () => {
	it('returns what is left, and the tightest limit; it does not count as a request', async () => {
		const bench = new GatewayBench({ tiers: tiers({ requestsPerMinute: 10, dailyTokens: 10_000, monthlyBudgetUsd: '0.0125' }) });
		bench.respond = () => jsonResponse(200, respondWithUsage);
		await ask(bench, chatPath, chatBody);
		await bench.gateway.settled();
		const response = await bench.ask('/v1/limits', '', {}, { method: 'GET' });
		expect(JSON.parse(textOf(response))).toMatchObject({
			object: 'limits',
			team: 'team-1',
			tier: 'standard',
			requests: { limit: 10, used: 1, remaining: 9 },
			tokens: { limit: 10_000, used: 1500, remaining: 8500 },
			budgets: [
				{ id: 'tier-standard', model: null, limit_usd: '0.0125', spent_usd: '0.00625', reserved_usd: '0.00', remaining_percent: 50 },
			],
			tightest_limit: { limit: 'budget', budget: 'tier-standard', remaining_percent: 50 },
		});
		expect(response.headers['x-ratelimit-remaining-requests']).toBe('9');
		expect((await bench.ask('/v1/limits', '', { authorization: undefined }, { method: 'GET' })).status).toBe(401);
	});

	it('is 503 while the counters cannot be restored, like other requests', async () => {
		const bench = new GatewayBench();
		bench.admission.read = () => Promise.reject(new CountersUnreachable('away'));
		const response = await bench.ask('/v1/limits', '', {}, { method: 'GET' });
		expect([summaryOf(response), response.headers['retry-after']]).toEqual(['503 records_unavailable', '1']);
	});
});

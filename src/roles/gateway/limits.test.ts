import { describe, expect, it } from 'vitest';
import {
	chatBody,
	chatPath,
	GatewayBench,
	HandStream,
	jsonResponse,
	readStream,
	settle,
	sseResponse,
	summaryOf,
	textOf,
} from '../../../test/support/gateway-bench.ts';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import { createMemoryRecords } from '../../../test/support/memory-records.ts';
import { type BudgetPolicy, plainBudget } from '../../core/budget.ts';
import type { HttpResponse } from '../../core/handler.ts';
import { silentLog } from '../../core/log.ts';
import { LimitRejection, toLimitRejection } from '../../policy/limits/limit-rejection.ts';
import { openRecordsSnapshot } from '../../stores/records-snapshot.ts';
import type { GatewaySettings } from './gateway-settings.ts';

const usage = { prompt_tokens: 1000, completion_tokens: 500, total_tokens: 1500 };
const respondWithUsage = JSON.stringify({ id: 'x', choices: [], usage });
/** Cost of the usage with gpt-5, in nano-dollars. */
const costOfUsage = 6_250_000n;
const startMs = Date.UTC(2026, 10, 26, 20, 45, 10);

type Tier = GatewaySettings['tiers'][string];

async function open(tier: Partial<Tier>, budgets: readonly Partial<BudgetPolicy>[] = []): Promise<GatewayBench> {
	const unlimited = { requestsPerMinute: null, dailyTokens: null, monthlyBudgetUsd: null };
	const records = createMemoryRecords();
	await records.teams.create({ id: 'team-1', name: 'One', tier: 'standard', clientIds: ['client-1'] });
	for (const [index, budget] of budgets.entries()) {
		const terms = { limitNanoUsd: 1n, warningThresholdPercent: 80, hardLimitPercent: 100, createdAtMs: 0, updatedAtMs: 0 };
		const record = { ...plainBudget, ...terms, id: `budget-${index}`, team: 'team-1', ...budget };
		expect(await records.budgets.create(record)).toBe('created');
	}
	const teams = await openRecordsSnapshot(records, [], { clock: new ManualClock(), log: silentLog });
	const limited = new GatewayBench({ tiers: { sandbox: unlimited, standard: { ...unlimited, ...tier } } }, { teams });
	limited.clock.advance(startMs - limited.clock.nowMs());
	limited.respond = () => jsonResponse(200, respondWithUsage);
	return limited;
}

let requested = 0;

async function ask(bench: GatewayBench, body = chatBody): Promise<HttpResponse> {
	const response = await bench.ask(chatPath, body, {}, { id: `request-${++requested}` });
	await bench.gateway.settled();
	return response;
}

function messageOf(response: HttpResponse): string {
	return (JSON.parse(textOf(response)) as { error: { message: string } }).error.message;
}

describe('limits of a team', () => {
	it('reject by tokens of the minute, until it ends', async () => {
		const bench = await open({ tokensPerMinute: 1500 });
		expect((await ask(bench)).status).toBe(200);
		const rejected = await ask(bench);
		expect(summaryOf(rejected)).toBe('429 tpm_limit_exceeded');
		expect(JSON.parse(textOf(rejected))).toMatchObject({
			allowed: false,
			reason: 'TPM limit exceeded (1500/1500 tokens per minute)',
			retry_after_seconds: 50,
		});
		expect(rejected.headers['retry-after']).toBe('50');
		bench.clock.advance(50_000);
		expect((await ask(bench)).status).toBe(200);
	});

	it('reject by requests in flight, and admit again when one has ended', async () => {
		const bench = await open({ concurrentRequests: 1 });
		const stream = new HandStream();
		bench.respond = () => sseResponse(stream);
		const first = await bench.ask(chatPath, chatBody.replace('{', '{"stream":true,'), {}, { id: 'streaming' });
		readStream(first);
		await settle();
		const rejected = await ask(bench);
		expect(summaryOf(rejected)).toBe('429 concurrency_limit_exceeded');
		expect(messageOf(rejected)).toBe('Concurrency limit exceeded (1/1 requests in flight)');
		expect(Number(rejected.headers['retry-after'])).toBeGreaterThan(0);
		expect(rejected.headers['x-should-retry']).toBeUndefined();
		stream.write('data: [DONE]\n\n');
		stream.sink?.end();
		await settle();
		await bench.gateway.settled();
		bench.respond = () => jsonResponse(200, respondWithUsage);
		expect((await ask(bench)).status).toBe(200);
	});

	it('reject by the model, and leave other models alone', async () => {
		const bench = await open({ models: { 'gpt-5*': { requestsPerMinute: 1 } } });
		expect((await ask(bench)).status).toBe(200);
		const rejected = await ask(bench, chatBody.replace('gpt-5', 'gpt-5-mini'));
		expect(summaryOf(rejected)).toBe('429 rpm_limit_exceeded');
		expect(messageOf(rejected)).toBe('RPM limit of the models gpt-5* exceeded (1/1 requests per minute)');
		expect((await ask(bench, chatBody.replace('gpt-5', 'gpt-4o'))).status).toBe(200);
	});

	it('in monitor mode record what they would have rejected', async () => {
		const bench = await open({ requestsPerMinute: 1, tokensPerMinute: 1000, concurrentRequests: 1, mode: 'monitor' });
		const monitored = [];
		for (let index = 0; index < 3; index++) {
			const { status, record } = await ask(bench);
			monitored.push([status, record?.monitored]);
		}
		const codes = ['rpm_limit_exceeded', 'tpm_limit_exceeded'];
		expect(monitored).toEqual([
			[200, undefined],
			[200, codes],
			[200, codes],
		]);
	});

	it('are all in the response of /v1/limits', async () => {
		const bench = await open({ tokensPerMinute: 5000, concurrentRequests: 4, models: { 'gpt-*': { requestsPerMinute: 9 } } }, [
			{ window: 'day', limitNanoUsd: 100n * costOfUsage },
		]);
		await ask(bench);
		const limits: unknown = JSON.parse(textOf(await bench.ask('/v1/limits', '', {}, { method: 'GET' })));
		expect(limits).toMatchObject({
			tokens_per_minute: { limit: 5000, used: 1500, reserved: 0 },
			concurrent_requests: { limit: 4, used: 0, remaining: 4 },
			models: [{ models: 'gpt-*', requests: { limit: 9, used: 1 }, tokens: null }],
			budgets: [{ window: 'day', mode: 'enforce', spent_usd: '0.00625', resets_in_seconds: 11_690 }],
		});
	});
});

describe('budgets of a team', () => {
	it.each([
		['hour', 'Hourly', 890],
		['day', 'Daily', 11_690],
		['week', 'Weekly', 270_890],
	] as const)('reject until the %s ends', async (window, word, seconds) => {
		const bench = await open({}, [{ window, limitNanoUsd: costOfUsage }]);
		expect((await ask(bench)).status).toBe(200);
		const rejected = await ask(bench);
		expect(summaryOf(rejected)).toBe('429 budget_exceeded');
		expect(messageOf(rejected)).toBe(`${word} budget exceeded (0.00625/0.00625 USD)`);
		expect([rejected.headers['retry-after'], rejected.headers['x-should-retry']]).toEqual([String(seconds), 'false']);
		bench.clock.advance(seconds * 1000);
		expect((await ask(bench)).status).toBe(200);
	});

	it('apply together, each in its own window and scope', async () => {
		const bench = await open({}, [
			{ window: 'hour', limitNanoUsd: 3n * costOfUsage },
			{ window: 'day', model: 'gpt-5*', limitNanoUsd: 2n * costOfUsage },
			{ window: 'month', client: 'client-1', provider: 'provider_b', limitNanoUsd: 4n * costOfUsage },
			{ window: 'month', client: 'another', limitNanoUsd: 0n },
		]);
		expect([(await ask(bench)).status, (await ask(bench)).status]).toEqual([200, 200]);
		expect(messageOf(await ask(bench))).toBe('Daily budget of the model gpt-5* exceeded (0.0125/0.0125 USD)');
		const other = chatBody.replace('gpt-5', 'gpt-4o');
		expect((await ask(bench, other)).status).toBe(200);
		expect(messageOf(await ask(bench, other))).toMatch(
			/^(Hourly budget|Monthly budget of the client client-1 and the provider provider_b) exceeded/,
		);
	});

	it('have their raised limit until it ends, and then their own', async () => {
		const raise = { limitNanoUsd: 3n * costOfUsage, untilMs: startMs + 60_000 };
		const bench = await open({}, [{ limitNanoUsd: costOfUsage, raise }]);
		expect([(await ask(bench)).status, (await ask(bench)).status]).toEqual([200, 200]);
		bench.clock.advance(60_000);
		expect(messageOf(await ask(bench))).toBe('Monthly budget exceeded (0.0125/0.00625 USD)');
	});

	it('let another model serve what they reject, named in the warnings', async () => {
		const bench = await open({}, [
			{ window: 'day', limitNanoUsd: costOfUsage, whenExceeded: 'fallback_model', fallbackModel: 'gpt-5-mini' },
		]);
		await ask(bench);
		const response = await ask(bench);
		expect(response.status).toBe(200);
		expect(response.headers).toMatchObject({
			'x-gateway-model': 'gpt-5-mini',
			'x-gateway-warnings': 'model: `gpt-5` is served by `gpt-5-mini`: Daily budget exceeded (0.00625/0.00625 USD)',
		});
		const sent = bench.sent[1]?.body;
		expect(Buffer.isBuffer(sent) && sent.includes('"model":"gpt-5-mini"')).toBe(true);
		expect((await ask(bench)).headers['x-gateway-model']).toBe('gpt-5-mini');
		bench.clock.advance(11_690_000);
		expect((await ask(bench)).headers['x-gateway-model']).toBe('gpt-5');
	});

	it('reject the fallback too if another budget does, and never loop', async () => {
		const bench = await open({}, [
			{ window: 'day', limitNanoUsd: costOfUsage, whenExceeded: 'fallback_model', fallbackModel: 'gpt-5-mini' },
			{ window: 'month', model: 'gpt-5-mini', limitNanoUsd: 0n, whenExceeded: 'fallback_model', fallbackModel: 'gpt-5' },
		]);
		await ask(bench);
		const response = await ask(bench);
		expect(summaryOf(response)).toBe('429 model_budget_exceeded');
		expect(messageOf(response)).toBe('Monthly budget of the model gpt-5-mini exceeded (0.00/0.00 USD)');
		expect(bench.sent).toHaveLength(1);
	});

	it('only warn, or only record, if they are set so', async () => {
		const warned = await open({}, [{ limitNanoUsd: 0n, whenExceeded: 'warn' }]);
		const response = await ask(warned);
		expect([response.status, response.headers['x-gateway-warnings']]).toEqual([200, 'Monthly budget is exceeded']);
		const monitored = await open({}, [{ limitNanoUsd: 0n, mode: 'monitor', model: 'gpt-*' }]);
		const recorded = await ask(monitored);
		expect([recorded.status, recorded.record?.monitored]).toEqual([200, ['model_budget_exceeded']]);
		expect(recorded.headers['x-gateway-warnings']).toBeUndefined();
	});

	it('of a tier stay in force next to a monitored one of the team', async () => {
		const bench = await open({ monthlyBudgetUsd: '0.00625' }, [{ limitNanoUsd: 0n, mode: 'monitor' }]);
		expect((await ask(bench)).record?.monitored).toEqual(['budget_exceeded']);
		expect(messageOf(await ask(bench))).toBe('Monthly budget exceeded (0.00625/0.00625 USD)');
	});
});

it('a rejection has the numbers of its limit', () => {
	const reading = {
		nowMs: startMs,
		requestsThisMinute: 3,
		tokensToday: 0,
		reservedTokens: 0,
		rates: [{ kind: 'tpm' as const, used: 70, reserved: 30 }],
		budgets: [{ budget: 'all', period: '2026-11-26T20+1', settledNanoUsd: 2_000_000_000n, reservedNanoUsd: 500_000_000n }],
	};
	const budget = { ...plainBudget, id: 'b', budget: 'all', period: '2026-11-26T20+1', window: 'hour', report: 'nothing' } as const;
	const request = {
		limits: [{ kind: 'tpm', limit: 100 } as const],
		typicalMs: 4000,
		budgets: [{ ...budget, isEnforced: true, limitNanoUsd: 1_000_000_000n, amountNanoUsd: 1n, check: 'before' as const }],
	};
	const tokens = toLimitRejection({ isAdmitted: false, binding: 'tpm', reading }, request);
	expect(tokens).toBeInstanceOf(LimitRejection);
	expect(tokens.limit).toEqual({ kind: 'tokens_per_minute', limit: 100, used: 70, reserved: 30, resetsAtMs: startMs + 50_000 });
	expect(tokens.message).toBe('TPM limit is reserved by requests in flight (70 used, 30 reserved, limit 100 tokens per minute)');
	const money = toLimitRejection({ isAdmitted: false, binding: 'budget', budget: 'all', period: '2026-11-26T20+1', reading }, request);
	expect(money.limit).toEqual({
		kind: 'budget',
		limit: 1_000_000_000n,
		used: 2_000_000_000n,
		reserved: 500_000_000n,
		resetsAtMs: Date.UTC(2026, 10, 26, 21),
	});
});

/** Rate limits that providers report: which of them count, until when, and the order of targets that follows. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ask, azure, benchWith, chatResponse, claude, gpt, hostOf } from '../../../test/support/failover-rig.ts';
import { jsonResponse } from '../../../test/support/gateway-bench.ts';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import type { HeaderFields } from '../../core/handler.ts';
import { anthropic } from '../../wire/providers/anthropic.ts';
import { openai } from '../../wire/providers/openai.ts';
import { ProviderRateLimits } from './provider-rate-limits.ts';

const openaiFields = (remaining: string, limit = '1000', reset = '6s') => ({
	'x-ratelimit-limit-requests': limit,
	'x-ratelimit-remaining-requests': remaining,
	'x-ratelimit-reset-requests': reset,
});

/** Reports fields and returns the time until the model is used again, in milliseconds. */
function exhaustedMs(headers: HeaderFields, { status = 200, rateLimits = openai.rateLimits } = {}): number {
	const clock = new ManualClock();
	const limits = new ProviderRateLimits();
	limits.note('m', rateLimits, { status, headers, body: null }, clock.monotonicMs(), clock);
	let low = 0;
	for (let step = 1_000_000; step >= 1; step = Math.floor(step / 10)) while (limits.isExhausted('m', low + step - 1)) low += step;
	return low;
}

describe('a limit is exhausted until its reset', () => {
	it.each([
		['0', '1000', '6s', 6000],
		['10', '1000', '6s', 6000],
		['11', '1000', '6s', 0],
		['1', '99', '6s', 0],
		['0', '10', '6m0s', 360_000],
		['0', '10', '1m30.5s', 90_500],
		['0', '10', '150ms', 150],
		['0', '10', '7', 7000],
		['0', '10', '0s', 0],
		['0', 'many', '2s', 2000],
		// An hour is cut, because the limit may have been raised.
		['0', '10', '1h0m0s', 600_000],
	])('%s of %s, reset %s', (remaining, limit, reset, ms) => {
		expect(exhaustedMs(openaiFields(remaining, limit, reset))).toBe(ms);
	});

	it('by the time of Anthropic, for each of its kinds', () => {
		for (const kind of ['requests', 'tokens', 'input-tokens', 'output-tokens']) {
			const headers = {
				[`anthropic-ratelimit-${kind}-limit`]: '50',
				[`anthropic-ratelimit-${kind}-remaining`]: '0',
				[`anthropic-ratelimit-${kind}-reset`]: '2026-01-01T00:00:12Z',
			};
			expect(exhaustedMs(headers, anthropic)).toBe(12_000);
		}
	});

	it('without a reset for five seconds, with several for the longest', () => {
		expect(exhaustedMs({ 'x-ratelimit-remaining-tokens': '0' })).toBe(5000);
		expect(exhaustedMs({ ...openaiFields('0'), 'x-ratelimit-remaining-tokens': '0', 'x-ratelimit-reset-tokens': '9s' })).toBe(9000);
	});

	it('after a 429, for the wait that it demands', () => {
		expect(exhaustedMs({ 'retry-after': '3' }, { status: 429 })).toBe(3000);
		expect(exhaustedMs({ 'retry-after': '3', ...openaiFields('0') }, { status: 429 })).toBe(3000);
		expect(exhaustedMs({ 'retry-after-ms': '20', 'retry-after': '1' }, { status: 429, rateLimits: [] })).toBe(20);
		expect(exhaustedMs({ 'retry-after': '3' }, { status: 200 })).toBe(0);
		expect(exhaustedMs({ 'retry-after': '999999999' }, { status: 429 })).toBe(0);
		expect(exhaustedMs({ 'retry-after': '3' }, { status: 503 })).toBe(0);
	});

	it.each(['', '-5', 'soon', '1e9', '99999h', '9999999999999s', 'Infinity', '2026-13-45T99:99:99Z', '2126-01-01T00:00:00Z', '1767225999'])(
		'ignores the reset %j',
		(reset) => expect(exhaustedMs(openaiFields('0', '10', reset))).toBe(0),
	);

	it.each(['', '-1', '0x0', '00.0', 'none', ' 0', '1e-9'])('ignores %j remaining', (remaining) => {
		expect(exhaustedMs(openaiFields(remaining))).toBe(0);
	});

	it('never throws, and never lasts longer than ten minutes, whatever the fields contain', () => {
		const text = fc.oneof(fc.string(), fc.stringMatching(/^[0-9hms.:TZ-]{0,30}$/), fc.constantFrom('0', '1', '5'));
		fc.assert(
			fc.property(text, text, text, fc.constantFrom(200, 429), (remaining, limit, reset, status) => {
				const headers = { ...openaiFields(remaining, limit, reset), 'retry-after': reset };
				expect(exhaustedMs(headers, { status })).toBeLessThanOrEqual(600_000);
			}),
		);
	});

	it('agrees with the exact share for all numbers', () => {
		fc.assert(
			fc.property(fc.nat(2000), fc.integer({ min: 1, max: 100_000 }), (remaining, limit) => {
				expect(exhaustedMs(openaiFields(String(remaining), String(limit))) > 0).toBe(remaining * 100 <= limit);
			}),
		);
	});
});

describe('the latest request decides', () => {
	const noteAt = (limits: ProviderRateLimits, clock: ManualClock, sentMs: number, remaining: string, model = 'm') =>
		limits.note(model, openai.rateLimits, { status: 200, headers: openaiFields(remaining), body: null }, sentMs, clock);

	it('a late response to an earlier request changes nothing, the next one does', () => {
		const clock = new ManualClock();
		const limits = new ProviderRateLimits();
		noteAt(limits, clock, 100, '0');
		noteAt(limits, clock, 50, '900');
		expect(limits.isExhausted('m', clock.monotonicMs())).toBe(true);
		noteAt(limits, clock, 101, '900');
		expect(limits.isExhausted('m', clock.monotonicMs())).toBe(false);
	});

	it('models are separate, and their number is bounded', () => {
		const clock = new ManualClock();
		const limits = new ProviderRateLimits();
		for (let model = 0; model < 1000; model++) noteAt(limits, clock, 0, '0', `model-${model}`);
		noteAt(limits, clock, 0, '0', 'x'.repeat(10_000));
		expect(limits.isExhausted('model-999', 0)).toBe(true);
		expect(limits.isExhausted('other', 0)).toBe(false);
		expect(limits.report(clock.nowMs()).length).toBeLessThanOrEqual(64);
		expect(limits.countExhausted(0)).toBe(limits.report(clock.nowMs()).length);
	});

	it('is reported for an hour', () => {
		const clock = new ManualClock();
		const limits = new ProviderRateLimits();
		noteAt(limits, clock, 0, '7');
		const reportedAtMs = clock.nowMs();
		expect(limits.report(reportedAtMs)).toEqual([
			{ model: 'm', kind: 'requests', limit: 1000, remaining: 7, resetsAtMs: reportedAtMs + 6000, reportedAtMs },
		]);
		limits.note('m', [], { status: 429, headers: { 'retry-after': '2' }, body: null }, 1, clock);
		expect(limits.report(reportedAtMs)).toEqual([
			{ model: 'm', kind: 'retry_after', limit: null, remaining: 0, resetsAtMs: reportedAtMs + 2000, reportedAtMs },
		]);
		clock.advance(3_600_001);
		expect(limits.report(clock.nowMs())).toEqual([]);
	});
});

describe('targets of a rule', () => {
	const hostsOf = async (bench: ReturnType<typeof benchWith>, count: number): Promise<string[]> => {
		const before = bench.sent.length;
		for (let index = 0; index < count; index++) await ask(bench);
		return bench.sent.slice(before).map(hostOf);
	};

	it('the first is used until it is nearly exhausted, and again after its reset: no request fails', async () => {
		const bench = benchWith({ targets: [gpt, azure] });
		let remaining = 2;
		bench.respond = (request) => {
			if (hostOf(request) !== 'b') return jsonResponse(200, chatResponse);
			if (remaining === 0) return jsonResponse(429, '{"error":{"message":"slow down"}}', { 'retry-after': '6' });
			return jsonResponse(200, chatResponse, openaiFields(String(--remaining), '2'));
		};
		expect(await hostsOf(bench, 4)).toEqual(['b', 'b', 'd', 'd']);
		expect([bench.traffic.of('provider_b').steered, bench.traffic.of('provider_b').fallbacks]).toEqual([2, 0]);
		bench.clock.advance(5999);
		expect(await hostsOf(bench, 1)).toEqual(['d']);
		bench.clock.advance(1);
		remaining = 2;
		expect(await hostsOf(bench, 2)).toEqual(['b', 'b']);
	});

	it('an exhausted one is used if it is the only one, if all are, or if the others fail', async () => {
		const only = benchWith({ targets: [gpt] });
		only.respond = () => jsonResponse(200, chatResponse, openaiFields('0'));
		expect(await hostsOf(only, 3)).toEqual(['b', 'b', 'b']);
		const all = benchWith({ targets: [gpt, azure] });
		all.respond = () => jsonResponse(200, chatResponse, openaiFields('0'));
		expect(await hostsOf(all, 4)).toEqual(['b', 'd', 'b', 'b']);
		const failing = benchWith({ targets: [gpt, azure] });
		failing.respond = (request) => (hostOf(request) === 'b' ? jsonResponse(200, chatResponse, openaiFields('0')) : jsonResponse(500, '{}'));
		expect(await hostsOf(failing, 2)).toEqual(['b', 'd', 'b']);
	});

	it('an exhausted one precedes an ejected one', async () => {
		const bench = benchWith({ targets: [azure, gpt, claude], traffic: { ejectAfterFailures: 1 } });
		bench.respond = (request) => {
			if (hostOf(request) === 'd') return jsonResponse(500, '{}');
			return hostOf(request) === 'b' ? jsonResponse(200, chatResponse, openaiFields('0')) : jsonResponse(500, '{}');
		};
		expect(await hostsOf(bench, 3)).toEqual(['d', 'b', 'a', 'b', 'b']);
	});

	it('another model of the provider is not concerned', async () => {
		const other = { ...gpt, model: 'gpt-5-mini' };
		const bench = benchWith({ targets: [gpt, other] });
		bench.respond = (request) => {
			const isFirst = Buffer.isBuffer(request.body) && request.body.includes('"gpt-5"');
			return jsonResponse(200, chatResponse, openaiFields(isFirst ? '0' : '900'));
		};
		await ask(bench);
		expect((await ask(bench)).headers['x-gateway-model']).toBe('gpt-5-mini');
		expect((await ask(bench)).headers['x-gateway-model']).toBe('gpt-5-mini');
	});
});

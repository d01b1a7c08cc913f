/** Timeouts of an attempt: those of a stream or those of a non-streaming response. */
import { describe, expect, it, vi } from 'vitest';
import { ask, benchWith, claude, gpt, hostOf, neverSent, sentThenLost } from '../../../test/support/failover-rig.ts';
import { chatBody, summaryOf, testSettings } from '../../../test/support/gateway-bench.ts';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import { UpstreamError } from '../../core/upstream-error.ts';
import { createMemoryAdmission } from '../../stores/memory/memory-admission.ts';

const { timeouts } = testSettings;
const streamBody = JSON.stringify({ ...JSON.parse(chatBody), stream: true });

describe('an attempt', () => {
	it('for a non-streaming response has `total_ms` for its head, for the start of its body and for all of it', async () => {
		const bench = benchWith({ targets: [gpt] });
		bench.respond = neverSent;
		await ask(bench);
		const { connectMs, firstByteMs = 0, bodyStartMs = 0, idleMs, totalMs } = bench.sent[0]?.timeouts ?? {};
		expect({ connectMs, idleMs, totalMs }).toEqual({ connectMs: timeouts.connectMs, idleMs: timeouts.idleMs, totalMs: timeouts.totalMs });
		expect(Math.min(firstByteMs, bodyStartMs)).toBeGreaterThanOrEqual(timeouts.totalMs);
	});

	it('for a stream has `first_byte_ms` for its head and `stream_total_ms` for all of it', async () => {
		const bench = benchWith({ targets: [gpt] });
		bench.respond = neverSent;
		await ask(bench, {}, streamBody);
		const { connectMs, firstByteMs, idleMs, streamTotalMs } = timeouts;
		const settings = {
			connect: 'gateway.timeouts.connect_ms',
			firstByte: 'gateway.timeouts.first_byte_ms',
			idle: 'gateway.timeouts.idle_ms',
			total: 'gateway.timeouts.stream_total_ms',
		};
		expect(bench.sent[0]?.timeouts).toEqual({ connectMs, firstByteMs, idleMs, totalMs: streamTotalMs, settings });
	});

	it('for a stream has at most `total_ms` for its head if `first_byte_ms` is greater', async () => {
		const bench = benchWith({ targets: [gpt], settings: { timeouts: { ...timeouts, firstByteMs: timeouts.totalMs + 1 } } });
		bench.respond = neverSent;
		await ask(bench, {}, streamBody);
		expect(bench.sent[0]?.timeouts).toMatchObject({ firstByteMs: timeouts.totalMs, totalMs: timeouts.streamTotalMs });
	});

	it('for a stream shares `total_ms` with all attempts before it until the stream begins', async () => {
		const bench = benchWith({ targets: [gpt, claude, { ...gpt, model: 'gpt-4o' }], traffic: { retries: 0 } });
		bench.respond = (request) => {
			bench.clock.advance(bench.sent.length === 1 ? 2500 : 1500);
			return sentThenLost(request, 'provider_first_byte_timeout');
		};
		expect(summaryOf(await ask(bench, {}, streamBody))).toBe('504 provider_total_timeout');
		expect(bench.sent.map(hostOf).join('')).toBe('ba');
		const remainingMs = timeouts.totalMs - 2500;
		expect(bench.sent[1]?.timeouts).toMatchObject({ connectMs: 1000, firstByteMs: remainingMs, totalMs: timeouts.streamTotalMs - 2500 });
	});
});

describe('a provider without a response within `total_ms`', () => {
	it('is unhealthy after as many of them as after other failures', async () => {
		const bench = benchWith({ targets: [gpt], traffic: { ejectAfterFailures: 2 } });
		bench.respond = (request) => {
			request.onSent?.();
			throw new UpstreamError('provider_total_timeout');
		};
		await ask(bench);
		await ask(bench);
		expect(bench.traffic.of('provider_b').health.isEjected).toBe(true);
	});

	it('stays healthy if earlier targets used up the time', async () => {
		const bench = benchWith({ traffic: { ejectAfterFailures: 1 } });
		bench.respond = () => {
			bench.clock.advance(timeouts.totalMs);
			throw new UpstreamError('provider_connect_timeout');
		};
		expect(summaryOf(await ask(bench))).toBe('504 provider_total_timeout');
		expect(bench.sent.map(hostOf).join('')).toBe('b');
		expect(bench.traffic.of('provider_a').health.isEjected).toBe(false);
	});
});

it('a reservation lasts as long as a non-streaming request can; a stream renews it', async () => {
	const clock = new ManualClock();
	const admission = createMemoryAdmission({ clock });
	const admit = vi.spyOn(admission, 'admit');
	const bench = benchWith({ targets: [gpt], ports: { admission } });
	await admission.restore({ team: 'team-1', tokensToday: 0, budgets: [], endedIds: [] });
	bench.respond = neverSent;
	await ask(bench);
	await ask(bench, {}, streamBody);
	expect(admit.mock.calls.map(([{ reservationMs }]) => reservationMs)).toEqual([timeouts.totalMs + 30_000, timeouts.totalMs + 30_000]);
});

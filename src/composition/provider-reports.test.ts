import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { createMemoryRecords } from '../../test/support/memory-records.ts';
import { createRecordingLog } from '../../test/support/recording-log.ts';
import type { ProviderReport } from '../core/health-report.ts';
import { ProviderReporter } from './provider-reports.ts';

const healthy: ProviderReport = { provider_b: { state: 'healthy', sinceMs: null, detail: null } };
const unhealthy: ProviderReport = { provider_b: { state: 'unhealthy', sinceMs: 5, detail: 'answered 500' } };

type Outage = 'fair' | 'away' | 'silent';

function startReporter(clock = new ManualClock(), store = createMemoryRecords(clock).providerReports) {
	const log = createRecordingLog();
	const state = { report: healthy, outage: 'fair' as Outage, notifications: 0 };
	const meet = async (): Promise<void> => {
		if (state.outage === 'away') throw new Error('away');
		if (state.outage === 'silent') await new Promise(() => undefined);
	};
	const reporter = new ProviderReporter({
		report: () => state.report,
		store: {
			async put(...reports) {
				state.notifications++;
				await meet();
				await store.put(...reports);
			},
			forget: async (process) => meet().then(() => store.forget(process)),
			read: async () => meet().then(() => store.read()),
		},
		clock,
		log,
	});
	const pass = async (seconds: number): Promise<void> => {
		for (let second = 0; second < seconds; second++) {
			clock.advance(1000);
			await setImmediate();
		}
	};
	return { clock, store, log, state, reporter, pass, reports: async () => [...(await store.read()).values()] };
}

test('a change is published within a second, an unchanged report every ten seconds', async () => {
	const { state, reports, pass } = startReporter();
	await pass(1);
	expect(await reports()).toEqual([healthy]);
	expect(state.notifications).toBe(1);
	state.report = unhealthy;
	await pass(1);
	expect(await reports()).toEqual([unhealthy]);
	expect(state.notifications).toBe(2);
	await pass(40);
	expect(state.notifications).toBe(6);
	expect(await reports()).toEqual([unhealthy]);
});

test('rate limits, which change with every request, are published every ten seconds', async () => {
	const { state, reports, pass } = startReporter();
	await pass(1);
	const limit = { model: 'm', kind: 'tokens', limit: 9, remaining: 1, resetsAtMs: null, reportedAtMs: 5 } as const;
	const limited: ProviderReport = { provider_b: { state: 'healthy', sinceMs: null, detail: null, rateLimits: [limit] } };
	state.report = limited;
	await pass(8);
	expect([state.notifications, await reports()]).toEqual([1, [healthy]]);
	await pass(2);
	expect([state.notifications, await reports()]).toEqual([2, [limited]]);
});

test('a process without reports for half a minute is gone, and immediately when it stops', async () => {
	const clock = new ManualClock();
	const killed = startReporter(clock);
	await killed.pass(1);
	killed.state.outage = 'silent';
	await killed.pass(31);
	expect(await killed.reports()).toEqual([]);
	const stopped = startReporter(clock, killed.store);
	await stopped.pass(1);
	expect(await stopped.reports()).toEqual([healthy]);
	await stopped.reporter.stop();
	expect(await stopped.reports()).toEqual([]);
	const { notifications } = stopped.state;
	await stopped.pass(20);
	expect(stopped.state.notifications).toBe(notifications);
});

test('reports are current for this process and as published for others; only this process while the store is unavailable', async () => {
	const clock = new ManualClock();
	const here = startReporter(clock);
	const there = startReporter(clock, here.store);
	await here.pass(1);
	here.state.report = unhealthy;
	expect(await here.reporter.read()).toEqual([unhealthy, healthy]);
	expect(await there.reporter.read()).toEqual([healthy, healthy]);
	here.state.outage = 'away';
	expect(await here.reporter.read()).toEqual([unhealthy]);
});

test('an unavailable store gets a request every ten seconds, and one log line; a silent one gets no second request', async () => {
	const { state, log, pass, reports } = startReporter();
	state.outage = 'away';
	await pass(35);
	expect(state.notifications).toBe(4);
	expect(log.lines.map(({ level }) => level)).toEqual(['warn']);
	state.outage = 'silent';
	await pass(60);
	expect(state.notifications).toBe(5);
	expect(await reports()).toEqual([]);
});

test('a store that comes back gets the report', async () => {
	const { state, log, pass, reports } = startReporter();
	state.outage = 'away';
	await pass(5);
	state.outage = 'fair';
	await pass(10);
	expect(await reports()).toEqual([healthy]);
	expect(log.lines.map(({ level }) => level)).toEqual(['warn', 'info']);
});

test('a silent store does not delay the shutdown', async () => {
	const { state, reporter, pass } = startReporter();
	await pass(1);
	state.outage = 'silent';
	let isStopped = false;
	const stopping = reporter.stop().then(() => (isStopped = true));
	await setImmediate();
	expect(isStopped).toBe(false);
	await pass(2);
	await stopping;
});

import { describe, expect, test } from 'vitest';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import { createRecordingLog } from '../../../test/support/recording-log.ts';
import { IpRateWindow } from './ip-rate-window.ts';
import { type ExchangeCounts, SharedIpRate } from './shared-ip-rate.ts';
import { sourceKey } from './source-key.ts';

const limit = 2000;
const one = sourceKey('198.51.100.1');
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Starts processes that share their counts; the test moves the clock of all. */
function start(processes: number) {
	const clock = new ManualClock();
	const log = createRecordingLog();
	const admittedMs = new Map<string, number[]>();
	const state = { isReachable: true, exchanges: 0, largest: 0 };
	const exchange: ExchangeCounts = async (counts) => {
		state.exchanges++;
		state.largest = Math.max(state.largest, counts.length);
		await turn();
		if (!state.isReachable) throw new Error('gone');
		return counts.map(({ source, requests }) => {
			const nowMs = clock.monotonicMs();
			const times = [...(admittedMs.get(source) ?? []), ...Array.from({ length: requests }, () => nowMs)];
			admittedMs.set(source, times);
			return times.filter((atMs) => atMs > nowMs - 310_000).length;
		});
	};
	const rates = Array.from({ length: processes }, () => {
		return new SharedIpRate(new IpRateWindow({ requests: limit, windowSeconds: 300, maxSources: 20_000 }, 7), exchange, { clock, log });
	});
	const admit = (index: number, source = one): boolean => rates[index % processes]?.admit(source, clock.monotonicMs()) ?? false;
	return { clock, log, admit, state };
}

test.each([1, 2, 4])('over %i processes the limit is kept within a hundredth', async (processes) => {
	const { admit, clock } = start(processes);
	let passed = 0;
	for (let index = 0; index < 2500; index++) {
		if (admit(index)) passed++;
		clock.advance(24);
		await turn();
	}
	expect(Math.abs(passed - limit)).toBeLessThanOrEqual(limit / 100);
});

test('of requests that come unevenly too, and faster than the responses', async () => {
	const { admit, clock } = start(2);
	let passed = 0;
	for (let index = 0; index < 3000; index++) {
		if (admit(index % 10 === 0 ? 1 : 0)) passed++;
		if (index % 3 === 0) await turn();
		if (index % 10 === 0) clock.advance(10);
	}
	expect(Math.abs(passed - limit)).toBeLessThanOrEqual(limit / 100);
});

test('after the window the source is heard again within 10 s, and asking for that costs one exchange a second', async () => {
	const { admit, clock, state } = start(2);
	for (let index = 0; index < 2100; index++) {
		admit(0);
		await turn();
	}
	// The second process learns of it with its next exchange.
	for (let index = 0; index < 10; index++) {
		admit(1);
		await turn();
	}
	const before = state.exchanges;
	for (let second = 0; second < 100; second++) {
		for (let index = 0; index < 10; index++) expect(admit(1)).toBe(false);
		await turn();
		await turn();
		clock.advance(1000);
	}
	expect(state.exchanges - before).toBeLessThanOrEqual(101);
	clock.advance(210_000);
	admit(1);
	await turn();
	await turn();
	expect(admit(1)).toBe(true);
});

test('sources with few requests are not exchanged', async () => {
	const { admit, state } = start(2);
	for (let index = 0; index < 1000; index++) admit(0, sourceKey(`203.0.113.${index % 250}`));
	await turn();
	expect(state.exchanges).toBe(0);
});

describe('when the other processes are unreachable', () => {
	test('each process counts for itself, at once and without waiting; each says so once, and once that it is over', async () => {
		const { admit, clock, log, state } = start(2);
		state.isReachable = false;
		let passed = 0;
		for (let index = 0; index < 5000; index++) {
			if (admit(index)) passed++;
			clock.advance(10);
			if (index % 100 === 0) await turn();
		}
		expect(passed).toBe(2 * limit);
		expect(state.exchanges, 'tried again each second, not each time').toBeLessThan(60);
		state.isReachable = true;
		clock.advance(1000);
		for (let index = 0; index < 20; index++) admit(0, sourceKey('203.0.113.1'));
		await turn();
		await turn();
		expect(log.lines.map(({ event }) => event)).toEqual([
			'per-source rates are counted per process',
			'per-source rates are counted per process',
			'per-source rates are shared between processes again',
		]);
	});

	test('nothing piles up', async () => {
		const { admit, state } = start(1);
		for (let source = 0; source < 15_000; source++) {
			for (let index = 0; index < 5; index++) admit(0, sourceKey(`10.0.${source >> 8}.${source & 255}`));
		}
		for (let index = 0; index < 60; index++) await turn();
		expect(state.largest).toBeLessThanOrEqual(500);
		expect(state.exchanges).toBeLessThanOrEqual(20);
	});
});

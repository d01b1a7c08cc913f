import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { workedMs } from '../../../test/support/cpu-ms.ts';
import { IpRateWindow } from './ip-rate-window.ts';
import { sourceKey } from './source-key.ts';

const settings = { requests: 2000, windowSeconds: 300, maxSources: 200_000 };
const one = sourceKey('198.51.100.1');
const other = sourceKey('198.51.100.2');

function countAdmitted(window: IpRateWindow, source: typeof one, tries: number, nowMs: (index: number) => number): number {
	let admitted = 0;
	for (let index = 0; index < tries; index++) if (window.admit(source, nowMs(index))) admitted++;
	return admitted;
}

describe('a rate window per IP', () => {
	test('of 2,500 requests of one source in 60 s exactly the first 2,000 pass; another source is unaffected', () => {
		const window = new IpRateWindow(settings, 7);
		const verdicts = Array.from({ length: 2500 }, (_, index) => window.admit(one, index * 24));
		expect(verdicts.indexOf(false)).toBe(2000);
		expect(verdicts.filter(Boolean)).toHaveLength(2000);
		expect(window.admit(other, 60_000)).toBe(true);
	});

	test('after the window it recovers within 10 s, and not before, though it kept trying', () => {
		const window = new IpRateWindow(settings, 7);
		const startMs = 1234;
		expect(countAdmitted(window, one, 2000, () => startMs)).toBe(2000);
		for (let nowMs = startMs; nowMs <= startMs + 300_000; nowMs += 1000) expect(window.admit(one, nowMs)).toBe(false);
		expect(countAdmitted(window, one, 3000, () => startMs + 310_000)).toBe(2000);
	});
});

test('never are there more than the limit in any window, wherever it begins', () => {
	const steps = fc.array(fc.integer({ min: 0, max: 40_000 }), { maxLength: 200 });
	fc.assert(
		fc.property(steps, fc.integer({ min: 1, max: 10 }), (gapsMs, requests) => {
			const window = new IpRateWindow({ requests, windowSeconds: 300, maxSources: 4 }, 7);
			const admittedMs: number[] = [];
			let nowMs = 0;
			for (const gapMs of gapsMs) {
				nowMs += gapMs;
				const isAdmitted = window.admit(one, nowMs);
				const inWindow = admittedMs.filter((atMs) => atMs > nowMs - 300_000).length;
				const inWindowAndSlice = admittedMs.filter((atMs) => atMs > nowMs - 310_000).length;
				if (isAdmitted) expect(inWindow).toBeLessThan(requests);
				else expect(inWindowAndSlice).toBe(requests);
				if (isAdmitted) admittedMs.push(nowMs);
			}
		}),
		{ numRuns: 200 },
	);
});

test('sources are separate as in a plain map, and the longest silent one is evicted first', () => {
	const anySource = fc.record({ high: fc.integer({ min: 0, max: 1 }), low: fc.integer({ min: 0, max: 2 }) });
	fc.assert(
		fc.property(fc.array(anySource, { maxLength: 300 }), fc.integer({ min: 1, max: 5 }), (sources, maxSources) => {
			const window = new IpRateWindow({ requests: 2, windowSeconds: 300, maxSources }, 7);
			const model = new Map<string, number>();
			for (const source of sources) {
				const name = `${source.high}:${source.low}`;
				const used = model.get(name) ?? 0;
				model.delete(name);
				const [oldest] = model.keys();
				if (model.size === maxSources && oldest !== undefined) model.delete(oldest);
				model.set(name, Math.min(2, used + 1));
				expect(window.admit(source, 0)).toBe(used < 2);
				expect(window.size).toBe(model.size);
			}
		}),
		{ numRuns: 300 },
	);
});

test('a source that replaces an evicted one inherits nothing of it', () => {
	const window = new IpRateWindow({ requests: 3, windowSeconds: 300, maxSources: 1 }, 7);
	expect(countAdmitted(window, one, 3, () => 0)).toBe(3);
	expect(window.admit(other, 0)).toBe(true);
	expect(countAdmitted(window, other, 4, () => 400_000)).toBe(3);
});

test('a limit beyond 65,535 is counted exactly too', () => {
	const window = new IpRateWindow({ requests: 70_000, windowSeconds: 300, maxSources: 2 }, 7);
	expect(countAdmitted(window, one, 70_001, () => 0)).toBe(70_000);
});

test('200,000 sources take less than 64 MB and 2 us each, and none waits 10 ms for room', () => {
	const before = process.memoryUsage();
	const window = new IpRateWindow(settings, 7);
	const addresses = Array.from({ length: 400_000 }, (_, index) => `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`);
	const addressBytes = process.memoryUsage().heapUsed - before.heapUsed;
	const batchTimes = (of: IpRateWindow): number[] => {
		const times: number[] = [];
		for (let start = 0; start < addresses.length; start += 1000) {
			const batch = addresses.slice(start, start + 1000);
			times.push(
				workedMs(() => {
					for (const address of batch) of.admit(sourceKey(address), 0);
				}),
			);
		}
		return times;
	};
	const first = batchTimes(window);
	const after = process.memoryUsage();
	const grownBytes = after.heapUsed + after.external - before.heapUsed - before.external - addressBytes;
	expect(window.size).toBe(200_000);
	// The minimum of three rounds excludes garbage collections, but includes evictions.
	const rounds = [first, batchTimes(new IpRateWindow(settings, 7)), batchTimes(new IpRateWindow(settings, 7))];
	const batchesMs = first.map((_, batch) => Math.min(...rounds.map((times) => times[batch] ?? 0)));
	const meanUs = (batchesMs.reduce((sum, batchMs) => sum + batchMs, 0) * 1000) / addresses.length;
	expect(meanUs).toBeLessThan(2);
	expect(Math.max(...batchesMs)).toBeLessThan(10);
	expect(grownBytes).toBeLessThan(64 * 1024 * 1024);
});

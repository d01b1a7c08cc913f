import { describe, expect, test } from 'vitest';
import { type LoadSample, LoadShedder } from './load-shedder.ts';

const settings = { maxInFlight: 100, targetDelayMs: 200, maxMemoryShare: 0.9 };
const calm = { spanMs: 100, loopDelayMs: 1, busyShare: 0.3, memoryShare: 0.2, isStarting: false };
const late = { spanMs: 334, loopDelayMs: 201, busyShare: 1, memoryShare: 0.2, isStarting: false };

const repeat = (count: number, sample: LoadSample): LoadSample[] => Array.from({ length: count }, () => sample);

const observed = (samples: readonly LoadSample[]): LoadShedder => {
	const shedder = new LoadShedder(settings);
	for (const sample of samples) shedder.observe(sample);
	return shedder;
};

describe('load shedding', () => {
	test('no request is rejected while all is well', () => {
		expect(observed(repeat(10, calm)).judge(99, 0, 0)).toBeUndefined();
	});

	test('one more than may be in flight is rejected, whatever else is true', () => {
		expect(observed([]).judge(100, 0.999, 0)).toBe('in_flight');
	});

	test('a late event loop rejects a growing share, and admits some to measure with', () => {
		expect(observed([late, late]).share, 'not for long enough yet').toBe(0);
		expect(observed([late, late, calm, late, late]).share, 'not at a stretch').toBe(0);
		expect(observed(repeat(3, late)).judge(0, 0.099, 0)).toBe('loop_delay');
		expect(observed(repeat(3, late)).judge(0, 0.101, 0)).toBeUndefined();
		const full = observed(repeat(50, late));
		expect(full.judge(0, 0.969, 0)).toBe('loop_delay');
		expect(full.judge(0, 0.971, 0)).toBeUndefined();
	});

	test('one pause is no overload, however long it is', () => {
		const pause = { ...late, spanMs: 5000, loopDelayMs: 5000 };
		expect(observed([pause]).share).toBe(0);
		expect(observed([pause, calm, pause]).share).toBe(0);
		expect(observed([pause, pause]).share).toBeGreaterThan(0);
	});

	test('startup work is no overload, and does not count towards one', () => {
		const start = { ...late, spanMs: 1163, loopDelayMs: 1143, isStarting: true };
		expect(observed(repeat(50, start)).judge(0, 0, 1000)).toBeUndefined();
		expect(observed([...repeat(50, start), late, late]).share).toBe(0);
		expect(observed([...repeat(50, start), late, late, late]).share).toBeGreaterThan(0);
		expect(observed([{ ...start, memoryShare: 0.91 }]).judge(0, 0.999, 0), 'memory can be short').toBe('memory');
		expect(observed([start]).judge(100, 0.999, 0), 'so can requests in flight').toBe('in_flight');
	});

	test('a queue of seconds is let run dry before more is taken', () => {
		const queued = { ...late, loopDelayMs: 1200 };
		expect(observed(repeat(3, queued)).share).toBeCloseTo(0.15);
		expect(observed(repeat(4, queued)).share).toBe(0.97);
		expect(observed([...repeat(3, late), { ...late, loopDelayMs: 100 }]).share, 'no queue yet').toBeCloseTo(0.2);
	});

	test('a loop that is late because the machine is busy rejects no request', () => {
		expect(observed(repeat(50, { ...late, busyShare: 0.89 })).share).toBe(0);
		expect(observed(repeat(50, { ...late, loopDelayMs: 10_000, busyShare: 0 })).share).toBe(0);
	});

	test('load shedding that began at its limit continues until the loop is in time by far', () => {
		const begun = observed(repeat(3, late));
		const slow = { ...late, loopDelayMs: 26 };
		expect(observed([...repeat(3, late), slow]).share).toBeGreaterThan(begun.share);
		expect(observed(repeat(50, slow)).share, 'callers who wait for each other').toBe(0);
	});

	test('while some are rejected, one late sample is enough for more', () => {
		const { share } = observed([late, late, late]);
		expect(observed([late, late, late, calm, late]).share).toBeGreaterThan(share);
	});

	test('while some are rejected, so are those that come late in a long turn', () => {
		expect(observed([late, late, late]).judge(0, 0.5, 13)).toBe('loop_delay');
		expect(observed([late, late, late]).judge(0, 0.5, 12)).toBeUndefined();
		expect(observed([calm]).judge(0, 0.5, 1000), 'a burst is no overload').toBeUndefined();
	});

	test('the share falls again, to nothing, once the loop is in time, and the more slowly the later it is', () => {
		const full = repeat(50, late);
		expect(observed([...full, ...repeat(25, calm)]).share).toBeGreaterThan(0);
		expect(observed([...full, ...repeat(26, calm)]).share).toBe(0);
		expect(observed([...full, ...repeat(26, { ...calm, loopDelayMs: 20 })]).share).toBeGreaterThan(0.7);
		expect(observed([...full, ...repeat(250, { ...late, busyShare: 0 })]).share).toBe(0);
	});

	test('exactly the target is in time', () => {
		expect(observed(repeat(9, { ...late, loopDelayMs: 200 })).share).toBe(0);
	});

	test('short of memory, each new request is rejected until memory is free again', () => {
		const shedder = observed([{ ...calm, memoryShare: 0.91 }]);
		expect(shedder.judge(0, 0.999, 0)).toBe('memory');
		shedder.observe({ ...calm, memoryShare: 0.9 });
		expect(shedder.judge(0, 0.999, 0)).toBeUndefined();
	});
});

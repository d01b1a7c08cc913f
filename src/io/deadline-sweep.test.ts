import { expect, test } from 'vitest';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { DeadlineSweep, type Watched } from './deadline-sweep.ts';

class Entry implements Watched {
	dueMs: number;
	listIndex = -1;
	readonly calls: number[] = [];
	onDue: (nowMs: number) => void = (nowMs) => void this.calls.push(nowMs);

	constructor(dueMs: number) {
		this.dueMs = dueMs;
	}
}

function build(): { clock: ManualClock; sweep: DeadlineSweep } {
	const clock = new ManualClock();
	return { clock, sweep: new DeadlineSweep(clock, 10) };
}

test('notifies an entry at the first sweep from its deadline on, and at each one until it moves', () => {
	const { clock, sweep } = build();
	const entry = new Entry(25);
	sweep.watch(entry);
	clock.advance(20);
	expect(entry.calls).toEqual([]);
	clock.advance(20);
	expect(entry.calls).toEqual([30, 40]);
	entry.dueMs = Number.POSITIVE_INFINITY;
	clock.advance(100);
	expect(entry.calls).toHaveLength(2);
});

test('does not notify entries that are no longer watched, in whatever order they are removed', () => {
	const { clock, sweep } = build();
	const entries = Array.from({ length: 6 }, () => new Entry(5));
	for (const entry of entries) sweep.watch(entry);
	for (const index of [0, 5, 2]) {
		const entry = entries[index];
		if (entry !== undefined) sweep.unwatch(entry);
	}
	clock.advance(10);
	expect(entries.map((entry) => entry.calls.length)).toEqual([0, 1, 0, 1, 1, 0]);
});

test('survives entries that remove others', () => {
	const { clock, sweep } = build();
	const entries = Array.from({ length: 5 }, () => new Entry(5));
	for (const entry of entries) {
		entry.onDue = (nowMs) => {
			entry.calls.push(nowMs);
			for (const other of entries) sweep.unwatch(other);
		};
		sweep.watch(entry);
	}
	clock.advance(10);
	expect(entries.reduce((sum, entry) => sum + entry.calls.length, 0)).toBe(1);
	expect(sweep.size).toBe(0);
});

test('watches an entry once, and removes it once', () => {
	const { sweep } = build();
	const entry = new Entry(5);
	sweep.watch(entry);
	sweep.watch(entry);
	expect(sweep.size).toBe(1);
	sweep.unwatch(entry);
	sweep.unwatch(entry);
	expect(sweep.size).toBe(0);
});

test('runs no timer when there is nothing to watch, and starts again', () => {
	const { clock, sweep } = build();
	const entry = new Entry(5);
	sweep.watch(entry);
	sweep.unwatch(entry);
	clock.advance(20);
	expect(clock.pending).toBe(0);
	sweep.watch(entry);
	clock.advance(20);
	expect(entry.calls.length).toBeGreaterThan(0);
});

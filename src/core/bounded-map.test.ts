import fc from 'fast-check';
import { expect, test } from 'vitest';
import { workedMs } from '../../test/support/cpu-ms.ts';
import { BoundedMap, memoize } from './bounded-map.ts';

test('keeps entries until they are deleted', () => {
	const map = new BoundedMap<string, number>(3);
	map.set('one', 1);
	map.set('two', 2);
	map.set('one', 3);
	expect([map.get('one'), map.get('two'), map.has('three'), map.size]).toEqual([3, 2, false, 2]);
	map.delete('one');
	map.delete('one');
	expect([map.get('one'), map.has('one'), map.size]).toEqual([undefined, false, 1]);
	map.clear();
	expect(map.size).toBe(0);
});

test('evicts the oldest entry when full; setting an entry again makes it the newest', () => {
	const map = new BoundedMap<string, number>(3);
	for (const key of ['a', 'b', 'c', 'a', 'd']) map.set(key, 1);
	expect(['a', 'b', 'c', 'd'].filter((key) => map.has(key))).toEqual(['a', 'c', 'd']);
});

test('evicts at most a sixteenth at once', () => {
	const map = new BoundedMap<number, number>(160);
	let previous = 0;
	for (let key = 0; key < 1000; key++) {
		map.set(key, key);
		expect(map.size).toBeGreaterThan(previous - 10);
		expect(map.size).toBeLessThanOrEqual(160);
		expect(map.has(Math.max(0, key - 149))).toBe(true);
		previous = map.size;
	}
	expect(previous).toBeGreaterThanOrEqual(150);
});

test('does not store an entry that exceeds the capacity, and evicts none for it', () => {
	const map = new BoundedMap<string, number>(10, (weight) => weight);
	map.set('light', 2);
	map.set('heavy', 3);
	map.set('heavy', 11);
	expect([map.get('light'), map.has('heavy')]).toEqual([2, false]);
	const none = new BoundedMap<string, number>(0);
	none.set('one', 1);
	expect(none.size).toBe(0);
});

test('never exceeds its capacity, and evicts the oldest entries', () => {
	const operations = fc.array(fc.tuple(fc.integer({ min: 0, max: 12 }), fc.integer({ min: 0, max: 40 }), fc.boolean()), { maxLength: 200 });
	fc.assert(
		fc.property(fc.integer({ min: 0, max: 60 }), operations, (capacity, steps) => {
			const map = new BoundedMap<number, number>(capacity, (weight) => weight);
			let byAge: [key: number, weight: number][] = [];
			for (const [key, weight, isDeleted] of steps) {
				byAge = byAge.filter(([other]) => other !== key);
				if (isDeleted) map.delete(key);
				else map.set(key, weight);
				if (!isDeleted && weight <= capacity) byAge.push([key, weight]);
				byAge = byAge.slice(byAge.length - map.size);
				for (const [one, expected] of byAge) expect(map.get(one)).toBe(expected);
				expect(byAge.reduce((sum, [, one]) => sum + one, 0)).toBeLessThanOrEqual(capacity);
				if (!isDeleted) expect(map.has(key)).toBe(weight <= capacity);
			}
		}),
	);
});

test('the cost of a new entry does not grow with the capacity', () => {
	let next = 0;
	/** Milliseconds to set as many new entries as the large map has. */
	const costOf = (map: BoundedMap<number, number>): number => {
		const end = next + 50_000;
		return workedMs(() => {
			for (; next < end; next++) map.set(next, next);
		});
	};
	const small = new BoundedMap<number, number>(100);
	const large = new BoundedMap<number, number>(50_000);
	// Both maps are full after this.
	for (const map of [small, large]) costOf(map);
	// Alternate the maps and take the best of several rounds, so that other load on the machine does not count.
	const costs = Array.from({ length: 5 }, () => ({ small: costOf(small), large: costOf(large) }));
	// The processor's clock can report zero for a short time.
	const ratio = Math.min(...costs.map((one) => one.large)) / Math.max(1, Math.min(...costs.map((one) => one.small)));
	// A search through the map would cost 500 times as much; reading memory outside the processor's caches costs up to 20 times as much.
	expect(ratio).toBeLessThan(50);
});

test('calls the function once for each key, also for undefined results, until the key is evicted', () => {
	const requested: string[] = [];
	const lengthOf = memoize(16, (key) => {
		requested.push(key);
		return key === '' ? undefined : key.length;
	});
	expect(['a', 'bc', 'a', '', ''].map(lengthOf)).toEqual([1, 2, 1, undefined, undefined]);
	expect(requested).toEqual(['a', 'bc', '']);
	for (let index = 0; index < 16; index++) lengthOf(`${index}`);
	expect(lengthOf('a')).toBe(1);
	expect(requested.filter((key) => key === 'a')).toHaveLength(2);
});

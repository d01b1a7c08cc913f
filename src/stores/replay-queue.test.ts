import { expect, test } from 'vitest';
import { RecentSettlements } from './replay-queue.ts';

const end = { team: 'red' };
const idsOf = (recent: RecentSettlements, nowMs: number) => recent.latest(nowMs).map(([id]) => id);

test('the ends of the last minute, in the order in which they came', () => {
	const recent = new RecentSettlements();
	expect(recent.latest(0)).toEqual([]);
	recent.note('one', end, 0);
	recent.note('two', { team: 'blue' }, 30_000);
	expect(recent.latest(60_000)).toEqual([
		['one', end],
		['two', { team: 'blue' }],
	]);
	expect(recent.latest(60_000, 'red')).toEqual([['one', end]]);
	expect(idsOf(recent, 60_001)).toEqual(['two']);
	expect(idsOf(recent, 90_001)).toEqual([]);
});

test.each([19_999, 20_000, 20_001, 50_003])('of %i the latest 20,000 at most, in the order in which they came', (count) => {
	const recent = new RecentSettlements();
	for (let index = 0; index < count; index++) recent.note(`call-${index}`, end, 0);
	expect(idsOf(recent, 0)).toEqual(Array.from({ length: count }, (_, index) => `call-${index}`).slice(-20_000));
});

test('a request that ended twice appears twice, its first end first', () => {
	const recent = new RecentSettlements();
	recent.note('one', end, 0);
	recent.note('two', end, 1);
	recent.note('one', { team: 'blue' }, 2);
	expect(recent.latest(2)).toEqual([
		['one', end],
		['two', end],
		['one', { team: 'blue' }],
	]);
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { comparedDays, findSpendAnomaly, minKnownDays } from './spend-anomaly.ts';

const usd = (amount: number): bigint => BigInt(Math.round(amount * 1e9));
const days = (count: number, amount: number): bigint[] => Array.from({ length: count }, () => usd(amount));

test('an hour that costs a multiple of the usual is an anomaly', () => {
	expect(findSpendAnomaly(usd(50), days(28, 10), usd(1))).toEqual({
		spentNanoUsd: usd(50),
		meanNanoUsd: usd(10),
		deviationNanoUsd: 0n,
		comparedHours: 28,
	});
});

test('twice the mean is no anomaly, and anything above is', () => {
	expect(findSpendAnomaly(usd(20), days(28, 10), 0n)).toBeUndefined();
	expect(findSpendAnomaly(usd(20) + 1n, days(28, 10), 0n)).toBeDefined();
});

test('a team whose hours vary needs more than three deviations', () => {
	const varying = [...days(14, 0), ...days(14, 20)].map((_, index) => usd(index % 2 === 0 ? 20 : 0.001));
	expect(findSpendAnomaly(usd(39), varying, 0n)).toBeUndefined();
	expect(findSpendAnomaly(usd(41), varying, 0n)).toBeDefined();
});

test('a job that runs once a week is no anomaly', () => {
	const weekly = days(28, 0).map((_, index) => usd(index % 7 === 0 ? 100 : 0.01));
	expect(findSpendAnomaly(usd(100), weekly, 0n)).toBeUndefined();
});

test('a team is judged once it has spent for seven days, and days before its first are no history', () => {
	expect(findSpendAnomaly(usd(1000), days(28, 0), 0n)).toBeUndefined();
	expect(findSpendAnomaly(usd(1000), [...days(22, 0), ...days(6, 1)], 0n)).toBeUndefined();
	expect(findSpendAnomaly(usd(1000), [...days(21, 0), ...days(7, 1)], 0n)).toMatchObject({
		comparedHours: minKnownDays,
		meanNanoUsd: usd(1),
	});
});

test('an hour below the minimum is never an anomaly', () => {
	expect(findSpendAnomaly(usd(0.99), days(28, 0.01), usd(1))).toBeUndefined();
	expect(findSpendAnomaly(usd(1), days(28, 0.01), usd(1))).toBeDefined();
});

const amounts = fc.bigInt({ min: 0n, max: 10n ** 15n });
const history = fc.array(amounts, { minLength: comparedDays, maxLength: comparedDays });

test('an anomaly is at least the minimum and above twice the mean', () => {
	fc.assert(
		fc.property(amounts, history, amounts, (spent, before, min) => {
			const found = findSpendAnomaly(spent, before, min);
			if (found === undefined) return;
			expect(spent >= min && spent > 2n * found.meanNanoUsd - 2n).toBe(true);
			expect(found.meanNanoUsd >= 0n && found.deviationNanoUsd >= 0n).toBe(true);
		}),
	);
});

test('more spend never ends an anomaly, and a higher minimum never begins one', () => {
	fc.assert(
		fc.property(amounts, amounts, history, amounts, (spent, more, before, min) => {
			if (findSpendAnomaly(spent, before, min) === undefined) return;
			expect(findSpendAnomaly(spent + more, before, min)).toBeDefined();
			expect(findSpendAnomaly(spent, before, 0n)).toBeDefined();
		}),
	);
});

test('an hour within the range of equal hours is no anomaly, whatever their amount', () => {
	fc.assert(
		fc.property(amounts, (amount) => {
			const before = Array.from({ length: comparedDays }, () => amount);
			expect(findSpendAnomaly(amount, before, 0n)).toBeUndefined();
		}),
	);
});

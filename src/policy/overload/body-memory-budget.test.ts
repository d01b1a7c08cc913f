import { describe, expect, test } from 'vitest';
import { Rejection } from '../../core/rejection.ts';
import { BodyMemoryBudget, type BodyMemoryReservation } from './body-memory-budget.ts';

const limitBytes = 1_000_000;

function rejectionOf(reserve: BodyMemoryReservation, bytes: number): unknown {
	try {
		reserve.grow(bytes);
		return undefined;
	} catch (cause) {
		return cause;
	}
}

describe('room for request bodies', () => {
	test('is what all of them together hold', () => {
		const space = new BodyMemoryBudget();
		const reservations = [300_000, 450_000].map((bytes, index) => {
			const reserve = space.reserve(`team ${index}`, limitBytes);
			reserve.grow(bytes);
			return reserve;
		});
		expect(space.reservedBytes).toBe(750_000);
		const late = space.reserve('other', limitBytes);
		const rejection = rejectionOf(late, 100_000);
		expect(rejection).toBeInstanceOf(Rejection);
		expect(rejection).toMatchObject({ code: 'overloaded', status: 503, retryAfterSeconds: 1 });
		expect(space.reservedBytes, 'a refused body holds nothing').toBe(750_000);
		reservations[0]?.release();
		reservations[0]?.release();
		expect(space.reservedBytes).toBe(450_000);
		expect(rejectionOf(late, 100_000)).toBeUndefined();
	});

	test('a quarter is kept for small bodies', () => {
		const space = new BodyMemoryBudget();
		const team = (name: string): BodyMemoryReservation => space.reserve(name, limitBytes);
		expect(rejectionOf(team('a'), 750_001)).toBeDefined();
		expect(rejectionOf(team('a'), 750_000)).toBeUndefined();
		expect(rejectionOf(team('b'), 65_537)).toBeDefined();
		expect(['b', 'c', 'd'].map((name) => rejectionOf(team(name), 65_536))).toEqual([undefined, undefined, undefined]);
		expect(rejectionOf(team('e'), 65_536), 'and no more than that').toBeDefined();
	});

	test('a body of unknown length is small until it grows, and releases everything when it is rejected', () => {
		const space = new BodyMemoryBudget();
		space.reserve('other', limitBytes).grow(740_000);
		const reserve = space.reserve('team', limitBytes);
		expect([1, 2, 3, 4, 5].map(() => rejectionOf(reserve, 16_000) === undefined)).toEqual([true, true, true, true, false]);
		expect(space.reservedBytes).toBe(804_000);
		reserve.release();
		expect(space.reservedBytes).toBe(740_000);
	});
});

describe('one among many', () => {
	/** @returns the number of bodies of that size that a team fits into the budget. */
	const fill = (space: BodyMemoryBudget, team: string, bytes: number): BodyMemoryReservation[] => {
		const reservations: BodyMemoryReservation[] = [];
		for (;;) {
			const reserve = space.reserve(team, limitBytes);
			if (rejectionOf(reserve, bytes) !== undefined) return reservations;
			reservations.push(reserve);
		}
	};

	test('leaves as much to the others as it takes, and so do they', () => {
		const space = new BodyMemoryBudget();
		expect(fill(space, 'greedy', 70_000)).toHaveLength(5);
		expect(fill(space, 'second', 70_000)).toHaveLength(2);
		expect(rejectionOf(space.reserve('greedy', limitBytes), 70_000), 'it has more than the others find').toMatchObject({ status: 503 });
		expect(rejectionOf(space.reserve('third', limitBytes), 70_000), 'whoever comes').toBeUndefined();
	});

	test('cannot fill it with small ones either', () => {
		const space = new BodyMemoryBudget();
		expect(fill(space, 'greedy', 50_000)).toHaveLength(10);
		expect(rejectionOf(space.reserve('other', limitBytes), 200_000)).toBeUndefined();
	});

	test('may have its first request as large as there is room', () => {
		const space = new BodyMemoryBudget();
		expect(rejectionOf(space.reserve('a', limitBytes), 500_000)).toBeUndefined();
		expect(rejectionOf(space.reserve('a', limitBytes), 70_000), 'while it has this one').toBeDefined();
		expect(rejectionOf(space.reserve('a', limitBytes), 50_000), 'small ones are judged by themselves').toBeUndefined();
		expect(rejectionOf(space.reserve('b', limitBytes), 200_000)).toBeUndefined();
	});

	test('has its part again when it has given it back', () => {
		const space = new BodyMemoryBudget();
		const reservations = fill(space, 'greedy', 70_000);
		for (const reserve of reservations) reserve.release();
		expect(space.reserved('greedy')).toEqual({ bytes: 0, smallBytes: 0 });
		expect(space.reservedBytes).toBe(0);
		expect(fill(space, 'greedy', 70_000)).toHaveLength(5);
	});

	test('is forgotten some time after it has given all back, and not before', () => {
		const space = new BodyMemoryBudget();
		const open = space.reserve('open', limitBytes);
		open.grow(1000);
		for (let index = 0; index < 10_000; index++) {
			const reserve = space.reserve(`team ${index}`, limitBytes);
			reserve.grow(10);
			reserve.release();
			expect(space.ownerCount).toBeLessThanOrEqual(1024);
		}
		expect(space.reserved('open')).toEqual({ bytes: 1000, smallBytes: 1000 });
		const reservations = Array.from({ length: 5000 }, (_, index) => {
			const reserve = space.reserve(`busy ${index}`, limitBytes);
			reserve.grow(10);
			return reserve;
		});
		expect(space.reservedBytes).toBe(51_000);
		for (const reserve of [...reservations, open]) reserve.release();
		expect(space.reservedBytes).toBe(0);
	});

	test('grows piece by piece under the same rule', () => {
		const space = new BodyMemoryBudget();
		fill(space, 'greedy', 70_000);
		const reserve = space.reserve('greedy', limitBytes);
		const pieces = Array.from({ length: 30 }, () => rejectionOf(reserve, 10_000) === undefined);
		expect(pieces.filter(Boolean), 'as many as a small one may have').toHaveLength(6);
		expect(space.reserved('greedy')).toEqual({ bytes: 410_000, smallBytes: 60_000 });
		reserve.release();
		expect(space.reserved('greedy')).toEqual({ bytes: 350_000, smallBytes: 0 });
	});

	test('that has grown beyond a small one counts as a large one', () => {
		const space = new BodyMemoryBudget();
		const reserve = space.reserve('team', limitBytes);
		for (let index = 0; index < 20; index++) reserve.grow(10_000);
		expect(space.reserved('team')).toEqual({ bytes: 200_000, smallBytes: 0 });
	});
});

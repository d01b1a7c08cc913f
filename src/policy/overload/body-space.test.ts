import { describe, expect, test } from 'vitest';
import { Refusal } from '../../core/refusal.ts';
import { type BodyHold, BodySpace } from './body-space.ts';

const limitBytes = 1_000_000;

function refusalOf(hold: BodyHold, bytes: number): unknown {
	try {
		hold.grow(bytes);
		return undefined;
	} catch (cause) {
		return cause;
	}
}

describe('room for request bodies', () => {
	test('is what all of them together hold', () => {
		const space = new BodySpace();
		const holds = [300_000, 450_000].map((bytes) => {
			const hold = space.hold(limitBytes);
			hold.grow(bytes);
			return hold;
		});
		expect(space.heldBytes).toBe(750_000);
		const late = space.hold(limitBytes);
		const refusal = refusalOf(late, 100_000);
		expect(refusal).toBeInstanceOf(Refusal);
		expect(refusal).toMatchObject({ code: 'overloaded', status: 503, retryAfterSeconds: 1 });
		expect(space.heldBytes, 'a refused body holds nothing').toBe(750_000);
		holds[0]?.release();
		holds[0]?.release();
		expect(space.heldBytes).toBe(450_000);
		expect(refusalOf(late, 100_000)).toBeUndefined();
	});

	test('a quarter is kept for small bodies', () => {
		const space = new BodySpace();
		expect(refusalOf(space.hold(limitBytes), 750_001)).toBeDefined();
		expect(refusalOf(space.hold(limitBytes), 750_000)).toBeUndefined();
		expect(refusalOf(space.hold(limitBytes), 65_537)).toBeDefined();
		expect([1, 2, 3].map(() => refusalOf(space.hold(limitBytes), 65_536))).toEqual([undefined, undefined, undefined]);
		expect(refusalOf(space.hold(limitBytes), 65_536), 'and no more than that').toBeDefined();
	});

	test('a body whose length nobody knows is small until it is not, and gives all back when it is refused', () => {
		const space = new BodySpace();
		space.hold(limitBytes).grow(740_000);
		const hold = space.hold(limitBytes);
		expect([1, 2, 3, 4, 5].map(() => refusalOf(hold, 16_000) === undefined)).toEqual([true, true, true, true, false]);
		expect(space.heldBytes).toBe(804_000);
		hold.release();
		expect(space.heldBytes).toBe(740_000);
	});
});

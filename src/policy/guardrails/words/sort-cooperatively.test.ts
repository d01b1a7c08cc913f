import fc from 'fast-check';
import { expect, it } from 'vitest';
import { sortInSteps } from './sort-cooperatively.ts';

type Item = readonly [key: number, index: number];
const byKey = ([one]: Item, [other]: Item): number => one - other;

function sort(items: readonly Item[]): { readonly sorted: readonly Item[]; readonly pauses: number } {
	const steps = sortInSteps(items, byKey);
	for (let pauses = 0; ; pauses++) {
		const step = steps.next();
		if (step.done === true) return { sorted: step.value, pauses };
	}
}

it('sorts as toSorted does, whatever the items and however many', () => {
	const keys = fc.integer({ min: 0, max: 2600 }).chain((length) => fc.array(fc.nat(50), { minLength: length, maxLength: length }));
	fc.assert(
		fc.property(keys, fc.boolean(), (list, isRising) => {
			const items = list.map((key, index): Item => [isRising ? index : key, index]);
			const { sorted, pauses } = sort(items);
			expect(sorted).toEqual(items.toSorted(byKey));
			expect(pauses).toBeGreaterThanOrEqual(items.length / 500);
		}),
		{ numRuns: 60 },
	);
});

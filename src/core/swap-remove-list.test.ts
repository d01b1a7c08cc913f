import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Listed, SwapRemoveList } from './swap-remove-list.ts';

interface Entry extends Listed {
	readonly name: number;
}

const visited = (list: SwapRemoveList<Entry>): Entry[] => {
	const seen: Entry[] = [];
	list.each((entry) => seen.push(entry));
	return seen;
};

test('contains the same entries as a set, and ignores entries of another list', () => {
	const steps = fc.array(fc.tuple(fc.constantFrom('add', 'remove', 'pop', 'other'), fc.nat(9)), { maxLength: 60 });
	fc.assert(
		fc.property(steps, (taken) => {
			const entries = Array.from({ length: 10 }, (_, name): Entry => ({ name, listIndex: -1 }));
			const [list, other] = [new SwapRemoveList<Entry>(), new SwapRemoveList<Entry>()];
			const [model, otherModel] = [new Set<Entry>(), new Set<Entry>()];
			for (const [step, name] of taken) {
				const entry = entries[name] ?? expect.fail();
				if (step === 'add') {
					if (!otherModel.has(entry)) model.add(entry);
					list.add(entry);
				} else if (step === 'other') {
					if (!model.has(entry)) otherModel.add(entry);
					other.add(entry);
				} else if (step === 'remove') {
					model.delete(entry);
					list.remove(entry);
				} else {
					const popped = list.pop();
					expect(popped === undefined ? model.size === 0 : model.delete(popped)).toBe(true);
				}
				expect(list.size).toBe(model.size);
				expect(new Set(visited(list))).toEqual(model);
				expect(new Set(visited(other))).toEqual(otherModel);
			}
		}),
	);
});

test('a visited entry may remove itself and others: each that stays is visited', () => {
	const entries = Array.from({ length: 9 }, (_, name): Entry => ({ name, listIndex: -1 }));
	for (const [one, another] of entries.flatMap((first) => entries.map((second) => [first, second] as const))) {
		const list = new SwapRemoveList<Entry>();
		for (const entry of entries) {
			entry.listIndex = -1;
			list.add(entry);
		}
		const seen = new Set<Entry>();
		list.each((entry) => {
			seen.add(entry);
			if (entry !== one) return;
			list.remove(one);
			list.remove(another);
		});
		for (const entry of entries) if (entry !== another) expect(seen).toContain(entry);
		expect(new Set(visited(list))).toEqual(new Set(entries.filter((entry) => entry !== one && entry !== another)));
	}
});

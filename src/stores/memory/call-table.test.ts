import fc from 'fast-check';
import { expect, test } from 'vitest';
import { markOf } from '../id-mark.ts';
import { CallTable } from './call-table.ts';

interface Call {
	readonly id: string;
	next: Call | undefined;
}

test('it holds what a map of ids would, also where ids have one mark', () => {
	// `Ca` and `DB` make one number.
	const ids = ['Ca', 'DB', 'CaCa', 'CaDB', 'DBCa', 'DBDB', '', 'x', 'a much longer id CaCa', 'a much longer id DBCa'];
	expect(new Set(ids.map(markOf)).size).toBeLessThan(ids.length - 3);
	const steps = fc.array(fc.tuple(fc.constantFrom('add', 'remove'), fc.constantFrom(...ids)), { maxLength: 60 });
	fc.assert(
		fc.property(steps, (taken) => {
			const table = new CallTable<Call>();
			const model = new Map<string, Call>();
			for (const [step, id] of taken) {
				if (step === 'remove') {
					table.remove(id);
					model.delete(id);
				} else if (!model.has(id)) {
					const call: Call = { id, next: undefined };
					table.add(call);
					model.set(id, call);
				}
				for (const one of ids) expect(table.get(one)).toBe(model.get(one));
			}
		}),
	);
});

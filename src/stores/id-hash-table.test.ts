import fc from 'fast-check';
import { expect, test } from 'vitest';
import { IdHashTable, idHash } from './id-hash-table.ts';

interface Entry {
	readonly id: string;
	next: Entry | undefined;
}

test('it has the ids that a map would, also if their hashes are equal', () => {
	// `Ca` and `DB` have the same hash. The others make the table grow.
	const alike = ['Ca', 'DB', 'CaCa', 'CaDB', 'DBCa', 'DBDB', '', 'x', 'a much longer id CaCa', 'a much longer id DBCa'];
	const ids = [...alike, ...Array.from({ length: 40 }, (_, index) => `call ${index}`)];
	expect(new Set(ids.map(idHash)).size).toBeLessThan(ids.length - 3);
	const steps = fc.array(fc.tuple(fc.constantFrom('add', 'remove'), fc.constantFrom(...ids)), { maxLength: 120, size: 'max' });
	fc.assert(
		fc.property(steps, (taken) => {
			const table = new IdHashTable<Entry>();
			const model = new Map<string, Entry>();
			for (const [step, id] of taken) {
				if (step === 'remove') {
					table.remove(id);
					model.delete(id);
				} else if (!model.has(id)) {
					const request: Entry = { id, next: undefined };
					table.add(request);
					model.set(id, request);
				}
				for (const one of ids) if (table.get(one) !== model.get(one)) expect.fail(`${one} after ${step} ${id}`);
				expect(new Set(table)).toEqual(new Set(model.values()));
			}
		}),
	);
});

test('it grows with what is there at once, not with what was ever there', () => {
	const table = new IdHashTable<Entry>();
	const requests = Array.from({ length: 100 }, (_, index): Entry => ({ id: `call ${index}`, next: undefined }));
	const before = process.memoryUsage().heapUsed;
	for (let round = 0; round < 40_000; round++) {
		for (const request of requests) table.add(request);
		for (const { id } of requests) table.remove(id);
	}
	// A slot for each of four million would be 32 MB.
	expect(process.memoryUsage().heapUsed - before).toBeLessThan(16_000_000);
	expect([...table]).toEqual([]);
});

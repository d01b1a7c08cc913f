import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { closedEntry, openEntry } from '../../contracts/ledger.contract.ts';
import { migrate } from '../migrate.ts';
import { compactClose, lineOf } from './compact-entries.ts';
import { ledgerSchema } from './ledger-schema.ts';
import { createLedgerWriter } from './ledger-writer.ts';
import { packBatch } from './packed-batch.ts';

test('an entry whose opening was voided is not closed instead of a later one', () => {
	const database = new DatabaseSync(':memory:');
	migrate(database, ledgerSchema);
	const writer = createLedgerWriter(database, 'run', false, () => undefined);
	const open = (id: string) => writer.write(packBatch({ opens: [lineOf(openEntry(id))], closes: [] }));
	const close = (id: string) => writer.write(packBatch({ opens: [], closes: [compactClose(closedEntry(id))] }));
	database.exec(`CREATE TRIGGER full BEFORE INSERT ON hourly BEGIN SELECT RAISE(ABORT, 'full'); END`);
	expect(open('undone')).toEqual([{ of: 'opens', index: 0, what: 'failed' }]);
	database.exec('DROP TRIGGER full');
	expect(open('next')).toEqual([]);
	expect(close('undone')).toEqual([{ of: 'closes', index: 0, what: 'unknown' }]);
	expect(close('next')).toEqual([]);
	expect(database.prepare('SELECT count(*) AS rows FROM calls WHERE outcome IS NOT NULL').get()).toEqual({ rows: 1 });
});

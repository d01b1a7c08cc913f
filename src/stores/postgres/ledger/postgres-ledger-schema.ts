import { readMigrations } from '../../read-migrations.ts';
import { amounts } from '../../sum-tables.ts';
import type { SchemaPart } from '../migrate.ts';

export const postgresLedgerSchema: SchemaPart = {
	name: 'ledger',
	steps: readMigrations(new URL('../migrations/ledger/', import.meta.url)),
};

/** Amounts of a row of `ledger_calls`, except `requests`. @param table its name or alias in the statement. */
export function amountsOfEntry(table: string): string {
	return amounts
		.slice(1)
		.map((name) =>
			name === 'estimated_cost_nano_usd'
				? `CASE WHEN ${table}.is_estimated THEN ${table}.cost_nano_usd ELSE 0 END AS ${name}`
				: `${table}.${name}`,
		)
		.join(', ');
}

/** Increment of `ledger_sequence`, and therefore the maximum number of rows in a batch. */
export const maxEntriesPerBatch = 10_000;

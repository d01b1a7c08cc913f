import { readMigrations } from '../../read-migrations.ts';
import { amounts } from '../../sum-tables.ts';
import type { SchemaPart } from '../migrate.ts';

export const postgresLedgerSchema: SchemaPart = {
	name: 'ledger',
	steps: readMigrations(new URL('../migrations/ledger/', import.meta.url)),
};

/** The amounts of a row of `ledger_calls`, except for `requests`. @param table its name or alias in the statement. */
export function amountsOfCall(table: string): string {
	return amounts
		.slice(1)
		.map((name) =>
			name === 'estimated_cost_nano_usd'
				? `CASE WHEN ${table}.is_estimated THEN ${table}.cost_nano_usd ELSE 0 END AS ${name}`
				: `${table}.${name}`,
		)
		.join(', ');
}

/** Rows between two numbers of `ledger_sequence`. */
export const mostRowsPerBatch = 10_000;

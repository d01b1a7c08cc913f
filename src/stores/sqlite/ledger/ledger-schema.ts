import { readMigrations } from '../../read-migrations.ts';
import { amounts } from '../../sum-tables.ts';

export const ledgerSchema = readMigrations(new URL('../migrations/ledger/', import.meta.url));

/** Amounts of a row of `calls`, except `requests`. */
export const amountsOfEntry = amounts
	.slice(1)
	.map((name) => (name === 'estimated_cost_nano_usd' ? `cost_nano_usd * (is_estimated = 1) AS ${name}` : name))
	.join(', ');

export const ledgerFileName = 'ledger.db';

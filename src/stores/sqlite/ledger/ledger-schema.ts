import { readMigrations } from '../../read-migrations.ts';

export const ledgerSchema = readMigrations(new URL('../migrations/ledger/', import.meta.url));

/** The columns of sums. */
export const amounts = [
	'requests',
	'input_tokens',
	'cache_read_tokens',
	'cache_write_tokens',
	'cache_write_hour_tokens',
	'output_tokens',
	'reasoning_tokens',
	'cost_nano_usd',
	'estimated_cost_nano_usd',
] as const;

/** The same of a row of `calls`, except for `requests`. */
export const amountsOfCall = amounts
	.slice(1)
	.map((name) => (name === 'estimated_cost_nano_usd' ? `cost_nano_usd * (is_estimated = 1) AS ${name}` : name))
	.join(', ');

export const ledgerFileName = 'ledger.db';

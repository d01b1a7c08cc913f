import { z } from 'zod';
import { integer, nonEmpty, restart, secret } from '../values.ts';

export const stores = z.strictObject({
	records: z
		.string()
		.regex(/^(sqlite|postgres(ql)?:\/\/\S+)$/, 'must be sqlite or a postgres:// URL')
		.default('sqlite')
		.meta({
			...secret('Where clients, teams, keys and the ledger are kept: `sqlite` (under `data_dir`) or a `postgres://` URL.'),
			'x-restart': true,
		}),
	records_file: nonEmpty.optional().meta(restart('File that holds the `records` URL.')),
	counters: z
		.string()
		.regex(/^(memory|rediss?:\/\/\S+)$/, 'must be memory or a redis:// URL')
		.default('memory')
		.meta({ ...secret('Where rate limits are counted: `memory` (one process) or a `redis://` URL.'), 'x-restart': true }),
	ledger: z
		.strictObject({
			retain_days: integer(1, 36_500)
				.nullable()
				.default(400)
				.meta(restart('Days that the row of each call is kept; sums by day stay. Null keeps rows for ever.')),
			durability: z
				.enum(['process', 'power'])
				.default('process')
				.meta(restart('What an acknowledged row survives: the end of the process, or the loss of power too, at a disk’s flush a batch.')),
		})
		.prefault({})
		.describe('The record of every call and what it cost.'),
	counters_file: nonEmpty.optional().meta(restart('File that holds the `counters` URL.')),
});

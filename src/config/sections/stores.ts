import { z } from 'zod';
import { integer, nonEmpty, restart, secret } from '../values.ts';

export const stores = z.strictObject({
	records: z
		.string()
		.regex(/^(sqlite|postgres(ql)?:\/\/\S+)$/, 'must be sqlite or a postgres:// URL')
		.default('sqlite')
		.meta({
			...secret('Where clients, teams, keys and the ledger are stored: `sqlite` (under `data_dir`) or a `postgres://` URL.'),
			'x-restart': true,
		}),
	records_file: nonEmpty.optional().meta(restart('File with the `records` URL.')),
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
				.meta(restart('Retention of ledger entries in days; daily sums stay. Null: no limit.')),
			durability: z
				.enum(['process', 'power'])
				.default('process')
				.meta(
					restart(
						'Durability of a written entry: it survives a process crash (`process`), or also a power loss (`power`, one flush per batch).',
					),
				),
		})
		.prefault({})
		.describe('The ledger: every request and its cost.'),
	counters_file: nonEmpty.optional().meta(restart('File with the `counters` URL.')),
});

import { z } from 'zod';
import { nonEmpty, restart, secret } from '../values.ts';

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
	counters_file: nonEmpty.optional().meta(restart('File that holds the `counters` URL.')),
});

import { z } from 'zod';
import { integer, restart } from '../values.ts';

/** One terabyte. */
const maxStoreBytes = 1_099_511_627_776;

export const requests = z.strictObject({
	record: z
		.union([z.enum(['on', 'off']), z.boolean()], { error: 'must be on or off' })
		.default('on')
		.meta(restart('Stores a record of each inference request, rejected ones included. `off`: `GET /requests` lists no new requests.')),
	retain_days: integer(1, 36_500).default(30).meta(restart('Retention of request records in days.')),
	max_bytes: integer(1_048_576, maxStoreBytes)
		.default(2_147_483_648)
		.meta(restart('Maximum size of all request records; the oldest are deleted above it.')),
});

import { z } from 'zod';
import { listen, restart } from '../values.ts';

export const metrics = z.strictObject({
	listen: listen
		.nullable()
		.default(null)
		.meta(restart('Address where `GET /metrics` is answered to anyone who can reach it; null means on the admin address alone.')),
	team_label: z
		.boolean()
		.default(false)
		.describe('Whether calls, tokens and cost are counted by team too; teams that are not registered are counted together.'),
});

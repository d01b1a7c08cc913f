import { z } from 'zod';
import { integer } from '../values.ts';

export const responses = z.strictObject({
	state: z
		.enum(['off', 'owner'])
		.default('off')
		.describe(
			'`off`: providers store no responses, and references to stored ones return 400. `owner`: they are stored as requested, and each id works only for the team that created it.',
		),
	retention_days: integer(1, 3650)
		.default(30)
		.describe('Days for which the owner of an id is stored. After it, the id returns 404. OpenAI keeps responses for 30 days.'),
	max_background: integer(0, 100_000)
		.default(500)
		.describe(
			'Maximum number of `background` responses that a gateway process follows until their cost is known. Further ones return 429.',
		),
});

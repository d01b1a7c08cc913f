import { z } from 'zod';
import { moment, named, usdSum } from './values.ts';

export const replayInput = named(
	'ReplayInput',
	z
		.strictObject({
			config_patch: z
				.record(z.string(), z.unknown())
				.describe(
					'Changes to the running configuration: mappings are merged, everything else is replaced. Files and variables are not read.',
				),
			from: moment.describe('Start of the requests, inclusive.'),
			to: moment.describe('Start of the requests, exclusive.'),
		})
		.refine(({ from, to }) => Date.parse(from) < Date.parse(to), { path: ['to'], message: 'must be later than `from`' }),
);

const count = z.int().min(0);

const counts = {
	requests: count,
	same: count.describe('Rejected before and after, or served before and after by the same target with the same output limit.'),
	rejected: count.describe('Served, and rejected by the changed configuration.'),
	admitted: count.describe('Rejected, and served by the changed configuration. Their cost is estimated.'),
	rerouted: count.describe('Served by another target.'),
	capped: count.describe('Output limited by the changed configuration only. A request can be both rerouted and capped.'),
	rejected_by_code: z.record(z.string(), count).describe('The part of `rejected` by error code.'),
	cost_usd_before: usdSum,
	cost_usd_after: usdSum,
};

const target = z.string().nullable().describe('As `provider/model`; null: rejected.');

export const replayResult = named(
	'ReplayResult',
	z.strictObject({
		...counts,
		teams: z.array(z.strictObject({ team: z.string(), ...counts })).describe('By team at the time of the request.'),
		examples: z
			.array(
				z.strictObject({
					id: z.string(),
					team: z.string(),
					change: z.enum(['rejected', 'admitted', 'rerouted', 'capped']),
					code: z.string().nullable().describe('Code of the rejection before or after.'),
					target_before: target,
					target_after: target,
				}),
			)
			.describe('The first 100 changed requests.'),
	}),
);

import { z } from 'zod';
import { clientId, entryName, integer, nonEmpty, rate, restart, teamId, usd } from '../values.ts';

const tier = z.strictObject({
	rpm: integer(0, 1_000_000_000).nullable().describe('Requests per minute of a team; null is unlimited.'),
	daily_tokens: integer(0, 1_000_000_000_000_000).nullable().describe('Tokens per UTC day of a team; null is unlimited.'),
	monthly_budget_usd: usd.nullable().describe('Budget per calendar month in US dollars for a team without its own; null is none.'),
});

/** `preset` chooses the built-in tiers; they are filled in before this schema sees them and `preset` ends here. */
export const tiers = z
	.strictObject({
		preset: z.enum(['limits', 'error_reference']).default('limits').describe('Which table of built-in tiers the others are laid over.'),
	})
	.catchall(tier)
	.transform(({ preset: _, ...named }): Readonly<Record<string, z.output<typeof tier>>> => named);

const registeredTeam = z.strictObject({
	id: teamId.describe('Id of the team.'),
	name: nonEmpty.max(200).nullable().default(null).describe('Name for people; null means the id.'),
	tier: entryName.default('sandbox').describe('Tier of the team, a key of `tiers`.'),
	client_ids: z.array(clientId).max(10_000).default([]).describe('Clients that belong to the team.'),
});

export const teams = z.strictObject({
	unregistered_clients: z
		.union([z.literal('reject'), z.strictObject({ tier: entryName.describe('Tier of such a client, a key of `tiers`.') })], {
			error: 'must be reject or {tier: NAME}',
		})
		.default({ tier: 'sandbox' })
		.describe('A client of no team is its own team in the given tier, or is answered 403 (`reject`).'),
	registered: z.array(registeredTeam).max(10_000).default([]).describe('Teams created at start, beside those made with the admin API.'),
});

const outputCap = integer(1, 1_000_000);
const outputCaps = {
	default: outputCap.optional().describe('For models that `models` does not name.'),
	models: z.record(nonEmpty.max(200), outputCap).default({}).describe('By the name of the model at its provider.'),
};

/** One number for all, or numbers by model and by team. */
const defaultOutputCaps = z
	.union(
		[
			outputCap.transform((tokens) => ({ default: tokens, models: {}, teams: {} })),
			z.strictObject({
				...outputCaps,
				teams: z
					.record(teamId, z.union([outputCap.transform((tokens) => ({ default: tokens, models: {} })), z.strictObject(outputCaps)]))
					.default({})
					.describe('By team: a number, or a mapping of `default` and `models`. They go before the others.'),
			}),
		],
		{ error: 'must be a number of tokens, or a mapping of `default`, `models` and `teams`' },
	)
	.nullable();

export const budgets = z
	.strictObject({
		warning_threshold_percent: integer(1, 1000).default(80).describe('Share of a budget at which a warning is logged.'),
		hard_limit_percent: integer(1, 1000).default(100).describe('Share of a budget at which calls are refused.'),
		reservation: z
			.enum(['estimate', 'worst_case'])
			.default('estimate')
			.describe('What a call holds of the budget until its real cost is known.'),
		unknown_price: z
			.enum(['allow', 'default_rate', 'reject'])
			.default('allow')
			.describe('What happens to a call whose model has no price: it passes at no cost, is charged `default_rate`, or is refused.'),
		default_rate: z
			.strictObject({
				input_usd_per_million_tokens: rate.default('10.00').describe('Of all input, cached or not.'),
				output_usd_per_million_tokens: rate.default('50.00').describe('Of all output.'),
			})
			.prefault({})
			.describe('Price of models without one, under `unknown_price: default_rate`.'),
		on_stream_over: z
			.enum(['extend', 'stop'])
			.default('extend')
			.describe('What becomes of a stream that costs more than it reserves when the budget allows no more: it goes on, or is stopped.'),
		stopped_stream: z
			.enum(['error', 'length'])
			.default('error')
			.describe(
				'How a stopped stream ends: by an error event, or as if its output cap were reached (`finish_reason: "length"`, `stop_reason: "max_tokens"`), with its usage.',
			),
		default_max_output_tokens: defaultOutputCaps
			.default(null)
			.describe(
				'Output cap written into requests that name none: a number of tokens, or `default`, `models` and `teams`. Null writes none.',
			),
		store_failure: z
			.enum(['local', 'allow', 'deny'])
			.default('local')
			.meta(restart('How budgets are judged while their store cannot be reached.')),
	})
	.refine((value) => value.warning_threshold_percent <= value.hard_limit_percent, {
		path: ['warning_threshold_percent'],
		error: 'must not be above hard_limit_percent',
	});

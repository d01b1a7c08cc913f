import { z } from 'zod';
import { attributeNamePattern, maxAttributes } from '../../core/attributes.ts';
import { policyModes } from '../../core/policy-mode.ts';
import { clientId, entryName, integer, nonEmpty, rate, restart, teamId, usd } from '../values.ts';
import { allowLists } from './allow-lists.ts';

const requestLimit = integer(0, 1_000_000_000).nullable();
const tokenLimit = integer(0, 1_000_000_000_000_000).nullable();

const tier = z
	.strictObject({
		rpm: requestLimit.describe('Requests per minute of a team; null is unlimited.'),
		daily_tokens: tokenLimit.describe('Tokens per UTC day of a team; null is unlimited.'),
		tpm: tokenLimit.optional().describe('Tokens per minute of a team; null or absent is unlimited.'),
		concurrent_requests: requestLimit.optional().describe('Requests of a team in flight; null or absent is unlimited.'),
		monthly_budget_usd: usd.nullable().describe('Monthly budget in US dollars for teams without their own; null: none.'),
		limits: z
			.strictObject({
				tpm: tokenLimit.optional().describe('The same as `tpm` of the tier.'),
				concurrent_requests: requestLimit.optional().describe('The same as `concurrent_requests` of the tier.'),
				models: z
					.record(
						nonEmpty.max(256),
						z.strictObject({
							rpm: requestLimit.optional().describe('Requests per minute to these models.'),
							tpm: tokenLimit.optional().describe('Tokens per minute of these models.'),
						}),
					)
					.optional()
					.describe('Limits of a team by model: a name, or a pattern with `*`.'),
				mode: z
					.enum(policyModes)
					.optional()
					.describe('`monitor`: all limits of the tier are decided and recorded, and reject nothing. Default: `enforce`.'),
			})
			.optional()
			.describe('Further limits of a team.'),
		...allowLists,
	})
	.refine(({ tpm, limits }) => tpm === undefined || limits?.tpm === undefined, {
		path: ['limits', 'tpm'],
		error: 'is also set outside of `limits`: keep one',
	})
	.refine(({ concurrent_requests: beside, limits }) => beside === undefined || limits?.concurrent_requests === undefined, {
		path: ['limits', 'concurrent_requests'],
		error: 'is also set outside of `limits`: keep one',
	});

/** `preset` chooses the built-in tiers. They are merged before this schema runs, and `preset` is dropped here. */
export const tiers = z
	.strictObject({
		preset: z.enum(['limits', 'error_reference']).default('limits').describe('Table of built-in tiers that other settings override.'),
	})
	.catchall(tier)
	.transform(({ preset: _, ...named }): Readonly<Record<string, z.output<typeof tier>>> => named);

const registeredTeam = z.strictObject({
	id: teamId.describe('Id of the team.'),
	name: nonEmpty.max(200).nullable().default(null).describe('Display name; null: the id.'),
	tier: entryName.default('sandbox').describe('Tier of the team, a key of `tiers`.'),
	client_ids: z.array(clientId).max(10_000).default([]).describe('Client ids of the team.'),
	...allowLists,
});

export const teams = z.strictObject({
	unregistered_clients: z
		.union([z.literal('reject'), z.strictObject({ tier: entryName.describe('Tier of such a client, a key of `tiers`.') })], {
			error: 'must be reject or {tier: NAME}',
		})
		.default({ tier: 'sandbox' })
		.describe('An unregistered client is its own team in the given tier, or receives 403 (`reject`).'),
	attributes_from_claims: z
		.record(z.string().regex(attributeNamePattern, 'must be 1 to 32 characters of a-z 0-9 _ that begin with a letter'), nonEmpty.max(200))
		.refine((claims) => Object.keys(claims).length <= maxAttributes, `must have at most ${maxAttributes} attributes`)
		.default({})
		.describe('Claims of access tokens whose values are attributes of the requests, by name of the attribute: `{project: project_id}`.'),
	registered: z.array(registeredTeam).max(10_000).default([]).describe('Teams created at start, in addition to those of the admin API.'),
});

const outputCap = integer(1, 1_000_000);
const outputCaps = {
	default: outputCap.optional().describe('Cap of models not listed in `models`.'),
	models: z.record(nonEmpty.max(200), outputCap).default({}).describe('By the name of the model at its provider.'),
};

/** One number for all models, or numbers by model and by team. */
const defaultOutputCaps = z
	.union(
		[
			outputCap.transform((tokens) => ({ default: tokens, models: {}, teams: {} })),
			z.strictObject({
				...outputCaps,
				teams: z
					.record(teamId, z.union([outputCap.transform((tokens) => ({ default: tokens, models: {} })), z.strictObject(outputCaps)]))
					.default({})
					.describe('Caps per team: a number, or a mapping of `default` and `models`. They take precedence.'),
			}),
		],
		{ error: 'must be a number of tokens, or a mapping of `default`, `models` and `teams`' },
	)
	.nullable();

export const budgets = z
	.strictObject({
		warning_threshold_percent: integer(1, 1000).default(80).describe('Share of a budget at which a warning is logged.'),
		hard_limit_percent: integer(1, 1000).default(100).describe('Share of a budget at which requests are rejected.'),
		reservation: z
			.enum(['estimate', 'worst_case'])
			.default('estimate')
			.describe('Amount reserved per request until the actual cost is known.'),
		unknown_price: z
			.enum(['allow', 'default_rate', 'reject'])
			.default('allow')
			.describe('Action for models without a price: pass at no cost, charge `default_rate`, or reject.'),
		default_rate: z
			.strictObject({
				input_usd_per_million_tokens: rate.default('10.00').describe('Input rate, cached or not.'),
				output_usd_per_million_tokens: rate.default('50.00').describe('Output rate.'),
			})
			.prefault({})
			.describe('Price of models without one, under `unknown_price: default_rate`.'),
		hosted_tools: z
			.strictObject({
				web_search_usd: usd.default('0.01').describe('Price of one web search.'),
				file_search_usd: usd.default('0.0025').describe('Price of one file search.'),
				code_interpreter_usd: usd.default('0.03').describe('Price of one container of the code interpreter.'),
				image_generation_usd: usd.default('0.04').describe('Price of one generated image.'),
			})
			.prefault({})
			.describe('Prices of tools that providers run, charged in addition to tokens.'),
		on_stream_over: z
			.enum(['extend', 'stop'])
			.default('extend')
			.describe(
				'Treatment of a stream that exceeds its reservation when the budget is exhausted: it continues (`extend`) or is stopped (`stop`).',
			),
		stopped_stream: z
			.enum(['error', 'length'])
			.default('error')
			.describe(
				'End of a stopped stream: an error event, or a reached output cap (`finish_reason: "length"`, `stop_reason: "max_tokens"`) with its usage.',
			),
		default_max_output_tokens: defaultOutputCaps
			.default(null)
			.describe('Output cap added to requests without one: a number, or `default`, `models` and `teams`. Null: none.'),
		store_failure: z
			.enum(['local', 'allow', 'deny'])
			.default('local')
			.meta(restart('Enforcement of budgets while the counter store is unreachable.')),
	})
	.refine((value) => value.warning_threshold_percent <= value.hard_limit_percent, {
		path: ['warning_threshold_percent'],
		error: 'must not be above hard_limit_percent',
	});

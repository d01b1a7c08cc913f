import { z } from 'zod';
import { clientDialectNames } from '../../../core/dialect-name.ts';
import { policyModes } from '../../../core/policy-mode.ts';
import { named, rate, text, usdSum } from './values.ts';

const headers = z
	.record(
		z.string().regex(/^(?!authorization$)[a-z0-9-]{1,64}$/, 'must be a lower-case header name other than `authorization`'),
		z.string().max(1000),
	)
	.describe('Request headers that affect the result, such as `x-gateway-provider`.');

/** A hypothetical request to explain. */
export const explainInput = named(
	'ExplainInput',
	z
		.strictObject({
			client_id: text(256).optional().describe('Client id. Exactly one of `client_id`, `team` and `access_token`.'),
			team: text(256).optional().describe('Team id, for any client of a registered team.'),
			access_token: text(8192).optional().describe('Access token of the client.'),
			format: z.enum(clientDialectNames),
			body: z.record(z.string(), z.unknown()).optional().describe('Request body as JSON. Exactly one of `body` and `body_text`.'),
			body_text: z.string().max(1_000_000).optional().describe('Request body as text, byte for byte.'),
			headers: headers.optional(),
		})
		.refine(
			(input) => countOf(input.client_id, input.team, input.access_token) === 1,
			'must have exactly one of client_id, team and access_token',
		)
		.refine((input) => countOf(input.body, input.body_text) === 1, 'must have exactly one of body and body_text'),
);

function countOf(...values: readonly unknown[]): number {
	return values.filter((value) => value !== undefined).length;
}

const target = z.strictObject({
	provider: z.string(),
	model: z.string(),
	code: z
		.string()
		.nullable()
		.describe(
			'Error code that would exclude this target; null: none. `model_differs`: embeddings never fail over to another model than that of the first target.',
		),
	rate_limited: z
		.boolean()
		.nullable()
		.describe('True: the provider’s rate limit for the model is nearly exhausted, and other targets are tried first. Null as above.'),
	ejected: z.boolean().nullable().describe('True: the provider is ejected and tried last. Null: this process does not track it.'),
});

const tier = z.strictObject({
	up_to_input_tokens: z.int().nullable().describe('Null: no upper bound.'),
	input_usd_per_million_tokens: rate,
	output_usd_per_million_tokens: rate,
});

/** Fields in the order of the decisions. */
export const explanation = named(
	'Explanation',
	z.strictObject({
		outcome: z.strictObject({
			admitted: z.boolean().describe('True: the request would be sent to the provider.'),
			status: z.int().nullable().describe('Status that the client would receive; null if admitted.'),
			code: z.string().nullable(),
			message: z.string().nullable(),
			param: z.string().nullable(),
		}),
		identity: z.strictObject({ client_id: z.string().nullable(), scopes: z.array(z.string()).nullable() }).nullable(),
		team: z
			.strictObject({
				id: z.string(),
				name: z.string(),
				tier: z.string(),
				is_registered: z.boolean().describe('False: the client is unregistered and is its own team.'),
			})
			.nullable(),
		request: z.strictObject({ format: z.enum(clientDialectNames), model: z.string(), streaming: z.boolean(), bytes: z.int() }).nullable(),
		allow_lists: z
			.strictObject({
				lists: z
					.array(z.strictObject({ path: z.string(), mode: z.enum(policyModes), values: z.array(z.string()) }))
					.describe('Lists in force, such as `teams.search.models.allow` or `tiers.sandbox.providers`.'),
				denied: z
					.array(z.strictObject({ provider: z.string(), model: z.string(), list: z.string(), mode: z.enum(policyModes) }))
					.describe('Targets that a list does not allow; `enforce`: they are skipped.'),
			})
			.nullable(),
		route: z
			.strictObject({
				decided_by: z.enum(['provider_header', 'rule', 'prefix', 'alias', 'configured_model', 'family', 'default']),
				rule: z.string().nullable(),
				monitored: z
					.strictObject({ rule: z.string(), target: z.string().describe('`provider/model`.') })
					.nullable()
					.describe('First target that a monitored rule would choose. Null: no monitored rule would decide.'),
				targets: z.array(target).describe('Targets in order: the first, then the failover targets.'),
			})
			.nullable(),
		price: z
			.strictObject({
				provider: z.string(),
				model: z.string(),
				version: z.string(),
				source: z.enum(['override', 'default', 'unknown']),
				tiers: z.array(tier),
			})
			.nullable(),
		reservation: z
			.strictObject({
				mode: z.enum(['estimate', 'worst_case']),
				amount_usd: usdSum.describe('Reserved on each budget until the cost is known.'),
				input_tokens: z.int(),
				output_tokens: z.int(),
				cap_tokens: z.int().nullable().describe('Output cap written into the request for a budget; null: none.'),
			})
			.nullable(),
		limits: z.record(z.string(), z.unknown()).nullable().describe('Limits and current usage, as in `GET /v1/limits`.'),
		guardrails: z
			.strictObject({
				state: z
					.enum(['off', 'clean', 'matched', 'masked', 'not_evaluated'])
					.describe('`not_evaluated`: no match, but some content cannot be read.'),
				enforced: z.boolean().describe('False: findings are only monitored.'),
				findings: z.array(
					z.strictObject({
						policy: z.string(),
						category: z.string(),
						action: z.enum(['NONE', 'MASK', 'BLOCK']).describe('Action taken.'),
						rule: z.enum(['none', 'log', 'block', 'mask']).describe('Configured action.'),
						mode: z.enum(policyModes),
						count: z.int(),
					}),
				),
				unreadable: z.array(z.string()).describe('Content types that cannot be evaluated.'),
				moderation_providers: z
					.array(
						z.strictObject({
							name: z.string(),
							rule: z.enum(['log', 'block', 'mask']).describe('Configured action for this team.'),
							mode: z.enum(policyModes),
						}),
					)
					.describe('Moderation providers that would also evaluate the request. Not called for an explanation.'),
			})
			.nullable()
			.describe('Of the request.'),
		upstream: z
			.strictObject({
				translated: z.boolean(),
				warnings: z.array(z.string()),
				bytes: z.int(),
				differences: z
					.array(z.strictObject({ path: z.string(), before: z.unknown().optional(), after: z.unknown().optional() }))
					.describe('Differences between the given and the sent body; at most 200.'),
			})
			.nullable(),
	}),
);

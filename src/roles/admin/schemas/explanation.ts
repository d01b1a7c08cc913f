import { z } from 'zod';
import { clientDialectNames } from '../../../core/dialect-name.ts';
import { named, rate, text, usdSum } from './values.ts';

const headers = z
	.record(
		z.string().regex(/^(?!authorization$)[a-z0-9-]{1,64}$/, 'is no lower-case name of a header field, or that of the token'),
		z.string().max(1000),
	)
	.describe('Fields that may matter, such as `x-gateway-provider`.');

/** A call as it would be made. */
export const explainWish = named(
	'ExplainInput',
	z
		.strictObject({
			client_id: text(256).optional().describe('Whose call it is: a client,'),
			team: text(256).optional().describe('or any client of a registered team,'),
			access_token: text(8192).optional().describe('or who has this access token. One of the three.'),
			format: z.enum(clientDialectNames),
			body: z.record(z.string(), z.unknown()).optional().describe('Of the request,'),
			body_text: z.string().max(1_000_000).optional().describe('or to the letter, when whitespace or mistakes matter. One of the two.'),
			headers: headers.optional(),
		})
		.refine((wish) => countOf(wish.client_id, wish.team, wish.access_token) === 1, 'must name one of client_id, team and access_token')
		.refine((wish) => countOf(wish.body, wish.body_text) === 1, 'must have one of body and body_text'),
);

function countOf(...values: readonly unknown[]): number {
	return values.filter((value) => value !== undefined).length;
}

const target = z.strictObject({
	provider: z.string(),
	model: z.string(),
	code: z.string().nullable().describe('What would keep the call from it; null: nothing.'),
	ejected: z.boolean().nullable().describe('True: calls failed there, and it is tried last. Null: not watched by this process.'),
});

const tier = z.strictObject({
	up_to_input_tokens: z.int().nullable().describe('Null: any more.'),
	input_usd_per_million_tokens: rate,
	output_usd_per_million_tokens: rate,
});

/** In the order of the decisions. */
export const explanation = named(
	'Explanation',
	z.strictObject({
		outcome: z.strictObject({
			admitted: z.boolean().describe('True: the call would be sent to the provider.'),
			status: z.int().nullable().describe('That the caller would get instead.'),
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
				is_registered: z.boolean().describe('False: the client belongs to no team, and is its own.'),
			})
			.nullable(),
		request: z.strictObject({ format: z.enum(clientDialectNames), model: z.string(), streaming: z.boolean(), bytes: z.int() }).nullable(),
		route: z
			.strictObject({
				decided_by: z.enum(['provider_header', 'rule', 'prefix', 'alias', 'configured_model', 'family', 'default']),
				rule: z.string().nullable(),
				targets: z.array(target).describe('Where the call goes, and then where it may go instead.'),
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
				amount_usd: usdSum.describe('Held on each budget until the cost is known.'),
				input_tokens: z.int(),
				output_tokens: z.int(),
				cap_tokens: z.int().nullable().describe('Written into the request for a budget; null: not.'),
			})
			.nullable(),
		limits: z.record(z.string(), z.unknown()).nullable().describe('Of this call, with what is used now, as `GET /v1/limits` tells them.'),
		guardrails: z
			.strictObject({
				state: z
					.enum(['off', 'clean', 'matched', 'masked', 'not_evaluated'])
					.describe('`not_evaluated`: clean, but for what cannot be read.'),
				enforced: z.boolean().describe('False: findings change nothing.'),
				findings: z.array(
					z.strictObject({
						policy: z.string(),
						category: z.string(),
						action: z.enum(['NONE', 'MASK', 'BLOCK']).describe('What is done.'),
						rule: z.enum(['none', 'log', 'block', 'mask']).describe('What is configured.'),
						count: z.int(),
					}),
				),
				unreadable: z.array(z.string()).describe('Types of parts that cannot be read.'),
				moderation_providers: z
					.array(
						z.strictObject({ name: z.string(), rule: z.enum(['log', 'block', 'mask']).describe('What is configured, for this team.') }),
					)
					.describe('Would be asked about the call too. They are not asked for an explanation.'),
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
					.describe('Between the body given and the body sent; at most 200.'),
			})
			.nullable(),
	}),
);

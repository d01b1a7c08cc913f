import { z } from 'zod';
import { policyModes } from '../../../core/policy-mode.ts';
import type { ModelLimits, Team, TeamLimits } from '../../../core/team.ts';
import { allowLists, allowListsBody, allowListsInput } from './allow-lists.ts';
import { clientOfToken, modelName, named, origin, readOnly, slug, text, timeOrNull, timeOrNullOf } from './values.ts';

const requests = z.int().min(0).max(1_000_000_000).nullable();
const tokens = z.int().min(0).max(1_000_000_000_000_000).nullable();

const limitFields = {
	rpm: requests.describe('Requests per minute; null: the tier’s limit.'),
	daily_tokens: tokens.describe('Tokens per UTC day; null: the tier’s limit.'),
	tpm: tokens.describe('Tokens per minute; null: the tier’s limit.'),
	concurrent_requests: requests.describe('Requests in flight; null: the tier’s limit.'),
	mode: z.enum(policyModes).describe('`monitor`: these limits are decided and recorded, and the tier’s stay in force. Default: `enforce`.'),
};
const modelLimits = {
	rpm: requests.describe('Requests per minute to these models; null: the tier’s limit.'),
	tpm: tokens.describe('Tokens per minute of these models; null: the tier’s limit.'),
};
const models = z
	.record(
		modelName,
		z
			.strictObject({ rpm: modelLimits.rpm.optional(), tpm: modelLimits.tpm.optional() })
			.refine(({ rpm = null, tpm = null }) => rpm !== null || tpm !== null, 'must have rpm or tpm'),
	)
	.refine((record) => Object.keys(record).length <= 100, 'must have at most 100 members')
	.describe('Limits by model: a name, or a pattern with `*`.');

const metadata = z
	.record(z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._:/-]{0,63}$/, 'is not 1 to 64 of A-Z a-z 0-9 . _ : / -'), z.string().max(1000))
	.refine((record) => Object.keys(record).length <= 50, 'must have at most 50 members')
	.describe('Free-form metadata; Tollgate ignores it.');

export const maxClients = 10_000;

const fields = {
	name: text(200).describe('Display name.'),
	tier: text(64).describe('Name of a configured tier.'),
	client_ids: z.array(clientOfToken).max(maxClients).describe('Client ids of the team. A client can be in one team.'),
	metadata,
};

export const team = named(
	'Team',
	z.strictObject({
		id: slug,
		name: z.string(),
		tier: z.string(),
		client_ids: z.array(z.string()),
		limits: z.strictObject({ ...limitFields, models: z.record(z.string(), z.strictObject(modelLimits)) }),
		...allowLists,
		metadata: z.record(z.string(), z.string()),
		origin,
		created_at: timeOrNull,
		updated_at: timeOrNull,
	}),
);

const inputFields = {
	limits: z
		.strictObject({
			rpm: limitFields.rpm.optional(),
			daily_tokens: limitFields.daily_tokens.optional(),
			tpm: limitFields.tpm.optional(),
			concurrent_requests: limitFields.concurrent_requests.optional(),
			models: models.nullable().optional(),
			mode: limitFields.mode.optional(),
		})
		.nullable()
		.optional(),
	...allowListsInput,
	client_ids: fields.client_ids.optional(),
	metadata: metadata.optional(),
	origin: readOnly,
	created_at: readOnly,
	updated_at: readOnly,
};

/** Body that creates a team. */
export const teamInput = named(
	'TeamInput',
	z.strictObject({
		id: slug.optional().describe('Default: derived from the name.'),
		name: fields.name.optional().describe('Default: the id.'),
		tier: fields.tier.optional().describe('Default: `sandbox`.'),
		...inputFields,
	}),
);

/** Body that changes a team; omitted fields stay unchanged. */
export const teamChange = named(
	'TeamUpdate',
	z.strictObject({
		id: slug.optional().describe('Must equal the id in the path.'),
		name: fields.name.optional(),
		tier: fields.tier.optional(),
		...inputFields,
	}),
);

export function teamBody(record: Team, isFromConfig: boolean): z.output<typeof team> {
	return {
		id: record.id,
		name: record.name,
		tier: record.tier,
		client_ids: [...record.clientIds],
		limits: limitsBody(record.limits ?? {}),
		...allowListsBody(record.allowLists),
		metadata: { ...record.metadata },
		origin: isFromConfig ? 'config' : 'api',
		created_at: timeOrNullOf(record.createdAtMs),
		updated_at: timeOrNullOf(record.updatedAtMs),
	};
}

/** Converts limits: null in the body becomes absent in the record, which means the tier's limit. */
export function limitsOf(input: z.output<typeof teamInput>['limits']): TeamLimits {
	const { rpm = null, daily_tokens: dailyTokens = null, tpm = null, concurrent_requests: concurrentRequests = null } = input ?? {};
	const byModel = Object.entries(input?.models ?? {}).map(([name, of]): [string, ModelLimits] => [name, modelLimitsOf(of)]);
	return {
		...(rpm !== null && { requestsPerMinute: rpm }),
		...(dailyTokens !== null && { dailyTokens }),
		...(tpm !== null && { tokensPerMinute: tpm }),
		...(concurrentRequests !== null && { concurrentRequests }),
		...(byModel.length > 0 && { models: Object.fromEntries(byModel) }),
		...(input?.mode === 'monitor' && { mode: input.mode }),
	};
}

function modelLimitsOf({
	rpm = null,
	tpm = null,
}: {
	readonly rpm?: number | null | undefined;
	readonly tpm?: number | null | undefined;
}): ModelLimits {
	return { ...(rpm !== null && { requestsPerMinute: rpm }), ...(tpm !== null && { tokensPerMinute: tpm }) };
}

function limitsBody(limits: TeamLimits): z.output<typeof team>['limits'] {
	const { requestsPerMinute: rpm = null, dailyTokens = null, tokensPerMinute: tpm = null, concurrentRequests = null } = limits;
	const byModel = Object.entries(limits.models ?? {}).map(([name, of]) => [
		name,
		{ rpm: of.requestsPerMinute ?? null, tpm: of.tokensPerMinute ?? null },
	]);
	return {
		rpm,
		daily_tokens: dailyTokens,
		tpm,
		concurrent_requests: concurrentRequests,
		models: Object.fromEntries(byModel) as Record<string, { rpm: number | null; tpm: number | null }>,
		mode: limits.mode ?? 'enforce',
	};
}

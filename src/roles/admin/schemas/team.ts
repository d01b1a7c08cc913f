import { z } from 'zod';
import type { Team, TeamLimits } from '../../../core/team.ts';
import { clientOfToken, named, origin, readOnly, slug, text, timeOrNull, timeOrNullOf } from './values.ts';

const limits = {
	rpm: z.int().min(0).max(1_000_000_000).nullable().describe('Requests per minute; null: the tier’s limit.'),
	daily_tokens: z.int().min(0).max(1_000_000_000_000_000).nullable().describe('Tokens per UTC day; null: the tier’s limit.'),
};

const metadata = z
	.record(z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._:/-]{0,63}$/, 'is not 1 to 64 of A-Z a-z 0-9 . _ : / -'), z.string().max(1000))
	.refine((record) => Object.keys(record).length <= 50, 'must have at most 50 members')
	.describe('Free-form metadata; Tollgate ignores it.');

const fields = {
	name: text(200).describe('Display name.'),
	tier: text(64).describe('Name of a configured tier.'),
	client_ids: z.array(clientOfToken).max(10_000).describe('Client ids of the team. A client can be in one team.'),
	metadata,
};

export const team = named(
	'Team',
	z.strictObject({
		id: slug,
		name: z.string(),
		tier: z.string(),
		client_ids: z.array(z.string()),
		limits: z.strictObject(limits),
		metadata: z.record(z.string(), z.string()),
		origin,
		created_at: timeOrNull,
		updated_at: timeOrNull,
	}),
);

const inputFields = {
	limits: z.strictObject({ rpm: limits.rpm.optional(), daily_tokens: limits.daily_tokens.optional() }).nullable().optional(),
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
		limits: { rpm: record.limits?.requestsPerMinute ?? null, daily_tokens: record.limits?.dailyTokens ?? null },
		metadata: { ...record.metadata },
		origin: isFromConfig ? 'config' : 'api',
		created_at: timeOrNullOf(record.createdAtMs),
		updated_at: timeOrNullOf(record.updatedAtMs),
	};
}

/** Converts limits: null in the body becomes absent in the record, which means the tier's limit. */
export function limitsOf(input: z.output<typeof teamInput>['limits']): TeamLimits {
	const { rpm = null, daily_tokens: dailyTokens = null } = input ?? {};
	return { ...(rpm !== null && { requestsPerMinute: rpm }), ...(dailyTokens !== null && { dailyTokens }) };
}

import { z } from 'zod';
import { maxScopeLength, maxScopes, scopeNameRule, scopePattern } from '../../../core/scope-names.ts';
import type { ClientRecord } from '../../../stores/contracts/records.ts';
import { named, origin, readOnly, slug, text, time, timeOf, timeOrNull } from './values.ts';

const clientId = z.string().regex(/^[A-Za-z0-9._~-]{1,128}$/, 'must be 1 to 128 characters of A-Z a-z 0-9 . _ ~ -');

const scopes = z
	.array(z.string().max(maxScopeLength).regex(scopePattern, scopeNameRule))
	.max(maxScopes)
	.refine((names) => new Set(names).size === names.length, 'must not name a scope twice')
	.describe(
		'Without the scope base: `invoke`, `admin`, `admin:read`, `admin:write`, `admin:secrets`, `admin:team:ID`. A client without scopes cannot get tokens.',
	);

export const client = named(
	'Client',
	z.strictObject({
		id: clientId,
		name: z.string(),
		team: z.string().nullable().describe('Id of the client’s team; null: none.'),
		scopes: z.array(z.string()),
		disabled: z.boolean().describe('True: the token endpoint treats the client as unknown.'),
		may_set_attributes: z.boolean().describe('True: its requests may carry `x-gateway-attributes`.'),
		secrets: z
			.array(z.strictObject({ expires_at: time.nullable().describe('Null: never.') }))
			.describe('Valid secrets; two during a rotation overlap. Empty for clients with `origin: config`.'),
		origin,
		created_at: timeOrNull,
		updated_at: timeOrNull,
	}),
);

export const clientWithSecret = named(
	'ClientWithSecret',
	z.strictObject({
		...client.shape,
		client_secret: z.string().describe('Returned once; cannot be retrieved later.'),
	}),
);

const given = { secrets: readOnly, origin: readOnly, created_at: readOnly, updated_at: readOnly };

export const clientInput = named(
	'ClientInput',
	z.strictObject({
		id: clientId.optional().describe('Default: derived from the name.'),
		name: text(200),
		scopes: scopes.optional().describe('Default: `invoke`.'),
		team: slug
			.nullable()
			.optional()
			.describe('Registered team to add the client to. Default: none; for administrators of a team, that team.'),
		disabled: z.literal(false).optional(),
		may_set_attributes: z.boolean().optional().describe('Default: false.'),
		...given,
	}),
);

/** Omitted fields stay unchanged. */
export const clientChange = named(
	'ClientUpdate',
	z.strictObject({
		id: clientId.optional().describe('Must equal the id in the path.'),
		name: text(200).optional(),
		scopes: scopes.optional(),
		disabled: z.boolean().optional(),
		may_set_attributes: z.boolean().optional(),
		team: readOnly,
		...given,
	}),
);

export const rotation = named(
	'Rotation',
	z.strictObject({
		overlap_seconds: z
			.int()
			.min(0)
			.max(30 * 86_400)
			.optional()
			.describe('Seconds that the old secret stays valid; default 3600.'),
	}),
);

export function clientBody(record: ClientRecord, team: string | undefined, nowMs: number): z.output<typeof client> {
	return {
		id: record.id,
		name: record.name,
		team: team ?? null,
		scopes: [...record.scopes],
		disabled: record.isDisabled,
		may_set_attributes: record.canSetAttributes,
		secrets: record.secrets
			.filter(({ expiresAtMs }) => expiresAtMs === null || expiresAtMs > nowMs)
			.map(({ expiresAtMs }) => ({ expires_at: expiresAtMs === null ? null : timeOf(expiresAtMs) })),
		origin: 'api',
		created_at: timeOf(record.createdAtMs),
		updated_at: timeOf(record.updatedAtMs),
	};
}

export interface ConfigClient {
	readonly id: string;
	readonly name: string;
	readonly scopes: readonly string[];
	readonly canSetAttributes: boolean;
}

export function configClientBody(
	{ id, name, scopes: scopeNames, canSetAttributes }: ConfigClient,
	team: string | undefined,
): z.output<typeof client> {
	const never = { disabled: false, secrets: [], origin: 'config' as const, created_at: null, updated_at: null };
	return { id, name, team: team ?? null, scopes: [...scopeNames], may_set_attributes: canSetAttributes, ...never };
}

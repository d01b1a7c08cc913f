import { z } from 'zod';
import { maxScopes } from '../../core/scope-names.ts';
import { integer, milliseconds, nonEmpty, restart, scopeName, seconds, teamId, webAddress } from '../values.ts';

const keySet = z.strictObject({
	cool_down_seconds: integer(1, 30).default(30).meta(restart('Minimum time between fetches caused by an unknown `kid`.')),
	max_age_seconds: seconds.default(600).meta(restart('Maximum age of the cached key set before it is fetched again.')),
	grace_seconds: integer(0, 604_800)
		.default(3600)
		.meta(restart('Time for which the last valid key set is used while the issuer is unreachable.')),
	timeout_ms: milliseconds.default(5000).meta(restart('Time for one fetch of the key set.')),
});

/** One scope of RFC 6749 section 3.3 to which `/invoke` can be appended. */
const scopeBase = z
	.string()
	.regex(
		/^[\x21\x23-\x5b\x5d-\x7e]*[\x21\x23-\x2e\x30-\x5b\x5d-\x7e]$/,
		'must be a scope prefix without blanks, quotes, backslashes and a closing slash',
	);

const otherIssuer = z.strictObject({
	issuer: webAddress.describe('The `iss` of its tokens, exactly.'),
	jwks_uri: webAddress.nullable().default(null).describe('Address of its key set; null means discovery from the issuer.'),
	audience: nonEmpty.nullable().default(null).describe('The `aud` that its tokens must carry; null means that it is not checked.'),
	client_prefix: z
		.string()
		.max(200)
		.regex(/^[\x21-\x7e]*$/, 'must be printable ASCII without blanks')
		.nullable()
		.default(null)
		.describe(
			'Text before its client ids, which separates them from those of other issuers. Null: the issuer and `#`. Empty: its client ids mean the same clients as those of `auth.issuer`.',
		),
	scopes: z
		.array(scopeName)
		.max(maxScopes)
		.nullable()
		.default(null)
		.describe('Scopes without the scope base that its tokens may carry; others are ignored. Null: all. `access.rules` can grant more.'),
});

/** Text before client ids of an issuer. An issuer contains no `#`. */
export function clientPrefixOf({
	issuer,
	client_prefix: prefix,
}: {
	readonly issuer: string;
	readonly client_prefix: string | null;
}): string {
	return prefix ?? `${issuer}#`;
}

/** Stands for `admin:team:ID` of the rule's team. */
export const boundTeamScope = 'admin:team';

const pattern = nonEmpty.max(1000);

const accessRule = z.strictObject({
	when: z
		.record(nonEmpty.max(200), z.union([pattern, z.array(pattern).min(1).max(1000)]))
		.refine((when) => Object.keys(when).length > 0, 'must have a condition: an issuer or a claim')
		.refine((when) => when['issuer'] === undefined || typeof when['issuer'] === 'string', 'must have one issuer: write a rule for each')
		.describe(
			'Conditions, all of which must be met. `issuer`: exact issuer, default `auth.issuer`. Others are claims: a pattern or list of patterns, of which one must match the claim or a member of it. `*` stands for any characters.',
		),
	grant: z
		.array(z.union([scopeName, z.literal(boundTeamScope)]))
		.max(maxScopes)
		.default([])
		.describe('Scopes without the scope base, in addition to those of the token. `admin:team` stands for `admin:team:ID` of `team`.'),
	team: teamId.nullable().default(null).describe('Team of the client, whatever its client id; null: by its client id.'),
});

export const access = z.strictObject({
	rules: z
		.array(accessRule)
		.max(1000)
		.default([])
		.describe('Grants scopes and a team by claims of the access token. The first rule that matches applies.'),
});

export const auth = z.strictObject({
	issuer: webAddress.nullable().default(null).meta(restart('The `iss` that tokens must carry, exactly; null means the embedded identity.')),
	jwks_uri: webAddress.nullable().default(null).meta(restart('Address of the issuer’s key set; null means discovery from the issuer.')),
	scope_base: scopeBase.default('tollgate').meta(restart('Prefix of the scopes `{scope_base}/invoke` and `{scope_base}/admin`.')),
	audience: nonEmpty.nullable().default(null).meta(restart('The `aud` that tokens must carry; null means that it is not checked.')),
	clock_skew_seconds: integer(0, 300).default(5).describe('Allowed clock difference between the issuer and Tollgate.'),
	max_token_lifetime_seconds: seconds
		.nullable()
		.default(null)
		.describe('Longest `exp` minus `iat` of an accepted token; null sets no limit.'),
	issuers: z
		.array(otherIssuer)
		.max(20)
		.default([])
		.meta(restart('Further issuers whose tokens are accepted, each verified by its own keys.')),
	key_set: keySet.prefault({}).describe('Fetching and caching of the issuer’s key set.'),
	verified_cache_size: integer(0, 10_000_000)
		.default(10_000)
		.describe('Number of verified tokens in the cache; a cached token needs no signature check.'),
});

import { z } from 'zod';
import { integer, milliseconds, nonEmpty, restart, seconds, webAddress } from '../values.ts';

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
	key_set: keySet.prefault({}).describe('Fetching and caching of the issuer’s key set.'),
	verified_cache_size: integer(0, 10_000_000)
		.default(10_000)
		.describe('Number of verified tokens in the cache; a cached token needs no signature check.'),
});

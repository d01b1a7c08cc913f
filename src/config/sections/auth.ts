import { z } from 'zod';
import { integer, milliseconds, nonEmpty, restart, seconds, webAddress } from '../values.ts';

const keySet = z.strictObject({
	cool_down_seconds: integer(1, 30).default(30).meta(restart('Within this time an unknown `kid` causes at most one fetch.')),
	max_age_seconds: seconds.default(600).meta(restart('Age at which the key set is fetched anew.')),
	grace_seconds: integer(0, 604_800).default(3600).meta(restart('Time that the last good key set still counts while the issuer is down.')),
	timeout_ms: milliseconds.default(5000).meta(restart('Time for one fetch of the key set.')),
});

/** One scope of RFC 6749 section 3.3 that can take `/invoke` behind it. */
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
	clock_skew_seconds: integer(0, 300).default(5).describe('Difference between the issuer’s clock and ours that is forgiven.'),
	max_token_lifetime_seconds: seconds
		.nullable()
		.default(null)
		.describe('Longest `exp` minus `iat` of an accepted token; null sets no limit.'),
	key_set: keySet.prefault({}).describe('How the issuer’s key set is fetched and kept.'),
	verified_cache_size: integer(0, 10_000_000)
		.default(10_000)
		.describe('Verified tokens remembered, so that a repeated token costs no signature check.'),
});

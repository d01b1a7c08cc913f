import type { Caller } from '../../core/caller.ts';
import { invalidToken } from './invalid-token.ts';
import type { JsonObject } from './json-object.ts';

/** RFC 6749 appendix A.1, bounded: client ids become log fields and keys of counters. */
const clientId = /^[\x20-\x7e]{1,256}$/;

/** Where issuers put the client's id; the first that is present counts, whatever it holds. */
const clientIdClaims = ['client_id', 'azp', 'appid', 'sub'] as const;

/**
 * The caller that these claims speak of. Whoever calls this answers for the claims being true.
 * @throws Refusal `token_invalid`.
 */
export function readClaimedCaller(claims: JsonObject): Caller {
	const { iss, exp, token_use } = claims;
	if (typeof iss !== 'string' || iss === '') throw invalidToken('iss is not a text');
	if (typeof exp !== 'number' || !Number.isFinite(exp) || exp <= 0) throw invalidToken('exp is not a time');
	if (token_use !== undefined && token_use !== 'access') throw invalidToken('token_use is not access');
	const caller = { clientId: readClientId(claims), issuer: iss, scopes: readScopes(claims), expiresAtSeconds: exp };
	return caller as Caller;
}

function readClientId(claims: JsonObject): string {
	const name = clientIdClaims.find((claim) => claims[claim] !== undefined);
	const id = name === undefined ? undefined : claims[name];
	if (typeof id !== 'string' || !clientId.test(id)) throw invalidToken(`${name ?? 'client_id'} names no client`);
	return id;
}

/** Only the space of RFC 6749 section 3.3 separates; what else is blank belongs to a scope's name. */
function readScopes({ scope, scp }: JsonObject): ReadonlySet<string> {
	const value = scope ?? scp;
	if (typeof value === 'string') return new Set(value.split(' '));
	return new Set(Array.isArray(value) ? value.filter((member) => typeof member === 'string') : []);
}

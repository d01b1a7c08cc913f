import { type Attributes, isAttributeValue } from '../../core/attributes.ts';
import type { Caller } from '../../core/caller.ts';
import { readTrustedPayload } from './compact-token.ts';
import { invalidToken } from './invalid-token.ts';
import { type JsonObject, readJsonObject } from './json-object.ts';

export type AttributeClaims = Readonly<Record<string, string>>;

/** Derives the caller from claims, whose issuer and times are checked elsewhere. */
export type ReadCaller = (claims: JsonObject, attributeClaims: AttributeClaims | undefined) => Caller;

/** Required values of an access token's claims. */
export interface ClaimRules {
	/** Exact value of `iss`, case-sensitive. */
	readonly issuer: string;
	/** Value of `aud`, or a member of it; null: `aud` is not checked. */
	readonly audience: string | null;
	/** Tolerated difference between the clocks of the issuer and the gateway. */
	readonly clockSkewSeconds: number;
	/** Claims whose values are attributes of the requests, by the name of the attribute. None by default. */
	readonly attributesFromClaims?: AttributeClaims;
	/** Maximum time from `iat` to `exp`, or from now when there is no `iat`; null: no limit. */
	readonly maxLifetimeSeconds: number | null;
}

/**
 * @param payload the claims as signed; the signature has been checked.
 * @param nowSeconds unix time.
 * @param readCaller derives the caller from the claims.
 * @throws {Rejection} `token_invalid`.
 */
export function checkClaims(payload: Buffer, rules: ClaimRules, nowSeconds: number, readCaller: ReadCaller = readClaimedCaller): Caller {
	const claims = readJsonObject(payload);
	if (claims === undefined) throw invalidToken('claims are not one plain JSON object');
	const caller = readCaller(claims, rules.attributesFromClaims);
	if (caller.issuer !== rules.issuer) throw invalidToken('iss is another issuer');
	if (rules.audience !== null && !names(claims['aud'], rules.audience)) throw invalidToken('aud is another audience');
	checkTimes(claims, caller.expiresAtSeconds, rules, nowSeconds);
	return caller;
}

function checkTimes(claims: JsonObject, expiresAtSeconds: number, rules: ClaimRules, nowSeconds: number): void {
	if (nowSeconds >= expiresAtSeconds + rules.clockSkewSeconds) throw invalidToken('expired');
	const latestSeconds = nowSeconds + rules.clockSkewSeconds;
	readPastTime(claims, 'nbf', latestSeconds);
	const issuedAtSeconds = readPastTime(claims, 'iat', latestSeconds);
	if (issuedAtSeconds !== undefined && expiresAtSeconds < issuedAtSeconds) throw invalidToken('exp is before iat');
	const lifetimeSeconds = expiresAtSeconds - (issuedAtSeconds ?? nowSeconds);
	if (rules.maxLifetimeSeconds !== null && lifetimeSeconds > rules.maxLifetimeSeconds) {
		throw invalidToken('lifetime exceeds auth.max_token_lifetime_seconds');
	}
}

/** Reads an optional time that must not be in the future. */
function readPastTime(claims: JsonObject, name: 'nbf' | 'iat', latestSeconds: number): number | undefined {
	const time = claims[name];
	if (time === undefined) return undefined;
	if (typeof time !== 'number' || !Number.isFinite(time) || time < 0) throw invalidToken(`${name} is not a time`);
	if (time > latestSeconds) throw invalidToken(`${name} is in the future`);
	return time;
}

function names(audience: unknown, wanted: string): boolean {
	return audience === wanted || (Array.isArray(audience) && audience.includes(wanted));
}

/** Syntax of RFC 6749 appendix A.1 with a maximum length, because client ids become log fields and keys of counters. */
const clientId = /^[\x20-\x7e]{1,256}$/;

/** Claims in which issuers put the client's id. The first one present decides, whatever its value. */
const clientIdClaims = ['client_id', 'azp', 'appid', 'sub'] as const;

/** Returns `iss`, as it is claimed, to choose the keys that verify the token. @throws {Rejection} `token_invalid`. */
export function readClaimedIssuer(payload: Buffer): string {
	const issuer = readJsonObject(payload)?.['iss'];
	if (typeof issuer !== 'string') throw invalidToken('iss is not a text');
	return issuer;
}

/**
 * Returns the caller that the claims name. The code that uses this function must have verified the claims.
 * @throws {Rejection} `token_invalid`.
 */
export function readClaimedCaller(claims: JsonObject, attributeClaims?: AttributeClaims): Caller {
	const { iss, exp, token_use } = claims;
	if (typeof iss !== 'string' || iss === '') throw invalidToken('iss is not a text');
	if (typeof exp !== 'number' || !Number.isFinite(exp) || exp <= 0) throw invalidToken('exp is not a time');
	if (token_use !== undefined && token_use !== 'access') throw invalidToken('token_use is not access');
	const attributes = attributeClaims && readAttributes(claims, attributeClaims);
	const caller = {
		clientId: readClientId(claims),
		issuer: iss,
		scopes: readScopes(claims),
		expiresAtSeconds: exp,
		...(attributes && { attributes }),
	};
	return caller as Caller;
}

/** Omits claims that are missing or have no valid value, because the issuer's claims reject no request. */
function readAttributes(claims: JsonObject, attributeClaims: AttributeClaims): Attributes | undefined {
	const found = Object.entries(attributeClaims).flatMap(([name, claim]) => {
		const value = Object.hasOwn(claims, claim) ? claims[claim] : undefined;
		const text = typeof value === 'number' || typeof value === 'boolean' ? String(value) : value;
		return typeof text === 'string' && isAttributeValue(text) ? [[name, text] as const] : [];
	});
	return found.length === 0 ? undefined : Object.fromEntries(found);
}

function readClientId(claims: JsonObject): string {
	const name = clientIdClaims.find((claim) => claims[claim] !== undefined);
	const id = name === undefined ? undefined : claims[name];
	if (typeof id !== 'string' || !clientId.test(id)) throw invalidToken(`${name ?? 'client_id'} does not contain a client id`);
	return id;
}

/** Splits scopes at the space of RFC 6749 section 3.3 only; other white space belongs to a scope's name. */
function readScopes({ scope, scp }: JsonObject): ReadonlySet<string> {
	const value = scope ?? scp;
	if (typeof value === 'string') return new Set(value.split(' '));
	return new Set(Array.isArray(value) ? value.filter((member) => typeof member === 'string') : []);
}

/**
 * Trusts the access token, for gateways that are only reachable through a balancer that verified it (`gateway.trust_edge`). The claims that
 * name the caller are read strictly as always; the balancer checked the header, signature, times and issuer.
 * @throws {Rejection} `token_invalid`.
 */
export function readUnverifiedCaller(
	accessToken: string,
	attributeClaims?: AttributeClaims,
	readCaller: ReadCaller = readClaimedCaller,
): Caller {
	const claims = readJsonObject(readTrustedPayload(accessToken));
	if (claims === undefined) throw invalidToken('claims are not one plain JSON object');
	return readCaller(claims, attributeClaims);
}

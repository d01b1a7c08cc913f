import type { Caller } from '../../core/caller.ts';
import { readClaimedCaller } from './claimed-caller.ts';
import { invalidToken } from './invalid-token.ts';
import { type JsonObject, readJsonObject } from './json-object.ts';

/** What the claims of an access token must say. */
export interface ClaimRules {
	/** Equal to `iss`, letter for letter. */
	readonly issuer: string;
	/** `aud`, or a member of it; null: `aud` is not looked at. */
	readonly audience: string | null;
	/** Difference between the issuer's clock and ours that is forgiven. */
	readonly clockSkewSeconds: number;
	/** Most that `exp` may lie after `iat`, or after now when there is no `iat`; null: no limit. */
	readonly maxLifetimeSeconds: number | null;
}

/**
 * @param payload the claims as signed; the signature has been checked.
 * @param nowSeconds unix time.
 * @throws Refusal `token_invalid`.
 */
export function judgeClaims(payload: Buffer, rules: ClaimRules, nowSeconds: number): Caller {
	const claims = readJsonObject(payload);
	if (claims === undefined) throw invalidToken('claims are not one plain JSON object');
	const caller = readClaimedCaller(claims);
	if (caller.issuer !== rules.issuer) throw invalidToken('iss is another issuer');
	if (rules.audience !== null && !names(claims['aud'], rules.audience)) throw invalidToken('aud is another audience');
	judgeTimes(claims, caller.expiresAtSeconds, rules, nowSeconds);
	return caller;
}

function judgeTimes(claims: JsonObject, expiresAtSeconds: number, rules: ClaimRules, nowSeconds: number): void {
	if (nowSeconds >= expiresAtSeconds + rules.clockSkewSeconds) throw invalidToken('expired');
	const latestSeconds = nowSeconds + rules.clockSkewSeconds;
	readPastTime(claims, 'nbf', latestSeconds);
	const issuedAtSeconds = readPastTime(claims, 'iat', latestSeconds);
	if (issuedAtSeconds !== undefined && expiresAtSeconds < issuedAtSeconds) throw invalidToken('exp lies before iat');
	const lifetimeSeconds = expiresAtSeconds - (issuedAtSeconds ?? nowSeconds);
	if (rules.maxLifetimeSeconds !== null && lifetimeSeconds > rules.maxLifetimeSeconds) throw invalidToken('lives too long');
}

/** A time that may be absent but not in the future. */
function readPastTime(claims: JsonObject, name: 'nbf' | 'iat', latestSeconds: number): number | undefined {
	const time = claims[name];
	if (time === undefined) return undefined;
	if (typeof time !== 'number' || !Number.isFinite(time) || time < 0) throw invalidToken(`${name} is not a time`);
	if (time > latestSeconds) throw invalidToken(`${name} lies in the future`);
	return time;
}

function names(audience: unknown, wanted: string): boolean {
	return audience === wanted || (Array.isArray(audience) && audience.includes(wanted));
}

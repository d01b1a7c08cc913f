import type { Caller } from '../../core/caller.ts';
import { readClaimedCaller } from './claimed-caller.ts';
import { readCompactToken } from './compact-token.ts';
import { invalidToken } from './invalid-token.ts';
import { readJsonObject } from './json-object.ts';

/**
 * Believes the access token: for gateways that only a balancer can reach which has verified it (`gateway.trust_edge`).
 * Syntax and the claims that name the caller are read as strictly as ever; signature, times and issuer are not judged.
 * @throws Refusal `token_invalid`.
 */
export function readUnverifiedCaller(accessToken: string): Caller {
	const claims = readJsonObject(readCompactToken(accessToken).payload);
	if (claims === undefined) throw invalidToken('claims are not one plain JSON object');
	return readClaimedCaller(claims);
}

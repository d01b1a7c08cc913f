import type { Caller } from '../../core/caller.ts';
import { readClaimedCaller } from './claimed-caller.ts';
import { readTrustedPayload } from './compact-token.ts';
import { invalidToken } from './invalid-token.ts';
import { readJsonObject } from './json-object.ts';

/**
 * Believes the access token: for gateways that only a balancer can reach which has verified it (`gateway.trust_edge`).
 * The claims that name the caller are read as strictly as ever; header, signature, times and issuer were the balancer's to judge.
 * @throws Refusal `token_invalid`.
 */
export function readUnverifiedCaller(accessToken: string): Caller {
	const claims = readJsonObject(readTrustedPayload(accessToken));
	if (claims === undefined) throw invalidToken('claims are not one plain JSON object');
	return readClaimedCaller(claims);
}

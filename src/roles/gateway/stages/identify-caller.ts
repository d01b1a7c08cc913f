import type { Caller } from '../../../core/caller.ts';
import type { HttpRequest } from '../../../core/handler.ts';
import type { AccessTokenVerifier } from '../../../policy/access/access-token-verifier.ts';
import { readBearer } from '../../../policy/access/bearer.ts';
import { requireScope } from '../../../policy/access/require-scope.ts';
import { readUnverifiedCaller } from '../../../policy/access/unverified-caller.ts';
import type { GatewaySettings } from '../gateway-settings.ts';

/**
 * Who calls. An edge in this process has proven it; otherwise the access token is judged here, or only read
 * when a trusted balancer has judged it.
 * @throws Refusal `token_missing`, `token_invalid`, `scope_missing`; Fault `key_set_unavailable`.
 */
export function identifyCaller(request: HttpRequest, settings: GatewaySettings, verifier: AccessTokenVerifier): Caller | Promise<Caller> {
	if (request.caller !== undefined) return request.caller;
	const accessToken = readBearer(request.headers.authorization);
	const scope = `${settings.scopeBase}/invoke`;
	const caller = settings.trustEdge ? readUnverifiedCaller(accessToken) : verifier.verify(accessToken);
	return caller instanceof Promise ? caller.then((verified) => requireScope(verified, scope)) : requireScope(caller, scope);
}

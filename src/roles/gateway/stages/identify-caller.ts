import type { Caller } from '../../../core/caller.ts';
import type { HttpRequest } from '../../../core/handler.ts';
import { readUnverifiedCaller } from '../../../policy/access/claims.ts';
import { requireScope } from '../../../policy/access/require-scope.ts';
import { readAccessToken } from '../../../policy/access/token-headers.ts';
import type { GatewayParts } from '../gateway-parts.ts';

/**
 * Who calls. An edge in this process has proven it; otherwise the access token is judged here, or only read
 * when a trusted balancer has judged it.
 * @throws Refusal `token_missing`, `token_invalid`, `scope_missing`; Fault `key_set_unavailable`.
 */
export function identifyCaller(request: HttpRequest, { settings, ports, invokeScope }: GatewayParts): Caller | Promise<Caller> {
	if (request.caller !== undefined) return request.caller;
	const accessToken = readAccessToken(request.headers, settings.tokenHeaders);
	const caller = settings.trustEdge ? readUnverifiedCaller(accessToken) : ports.verifier.verify(accessToken);
	return caller instanceof Promise ? caller.then((verified) => requireScope(verified, invokeScope)) : requireScope(caller, invokeScope);
}

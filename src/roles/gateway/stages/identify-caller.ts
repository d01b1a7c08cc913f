import type { Caller } from '../../../core/caller.ts';
import type { HttpRequest } from '../../../core/handler.ts';
import { Refusal } from '../../../core/refusal.ts';
import type { AccessTokenVerifier } from '../../../policy/access/access-token-verifier.ts';
import { readBearer } from '../../../policy/access/bearer.ts';
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
	return caller instanceof Promise ? caller.then((verified) => withScope(verified, scope)) : withScope(caller, scope);
}

/** The challenge is RFC 6750 section 3.1's. */
function withScope(caller: Caller, scope: string): Caller {
	if (caller.scopes.has(scope)) return caller;
	throw new Refusal('scope_missing', {
		headers: { 'www-authenticate': `Bearer realm="tollgate", error="insufficient_scope", scope="${scope}"` },
	});
}

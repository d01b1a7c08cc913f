import type { Caller } from '../../core/caller.ts';
import { Rejection } from '../../core/rejection.ts';

/**
 * Requires an exact, case-sensitive scope. The challenge is that of RFC 6750 section 3.1.
 * @throws {Rejection} `scope_missing`.
 */
export function requireScope<Holder extends Pick<Caller, 'scopes'>>(caller: Holder, scope: string): Holder {
	if (caller.scopes.has(scope)) return caller;
	throw scopeMissing(scope);
}

export function scopeMissing(scope: string): Rejection {
	return new Rejection('scope_missing', {
		message: `The request needs an access token with the scope \`${scope}\`, of a client that has this scope`,
		headers: { 'www-authenticate': `Bearer realm="tollgate", error="insufficient_scope", scope="${scope}"` },
	});
}

import { Rejection } from '../../core/rejection.ts';
import { isAdminScope } from '../../core/scope-names.ts';

/**
 * Selects the scopes of a token: the requested ones, or all of the client except those of administrators, which must be requested
 * explicitly.
 * @param requested as received: scopes with their base, separated by single blanks.
 * @param granted scope names without the base.
 * @returns scopes with their base, each once: in the requested order, or that of `granted`.
 * @throws `Rejection` `invalid_scope`.
 */
export function grantScopes(requested: string | undefined, granted: readonly string[], scopeBase: string): string[] {
	const available = granted.map((name) => `${scopeBase}/${name}`);
	if (requested === undefined) {
		const given = granted.filter((name) => !isAdminScope(name)).map((name) => `${scopeBase}/${name}`);
		if (given.length === 0) {
			throw new Rejection('invalid_scope', {
				message: `Request a scope explicitly: the client has only scopes of administrators, ${available.join(' ')}`,
			});
		}
		return given;
	}
	const wanted = [...new Set(requested.split(' '))];
	if (!wanted.every((scope) => available.includes(scope))) {
		throw new Rejection('invalid_scope', {
			message: `A requested scope is unknown or not granted. Scopes of this client: ${available.join(' ')}`,
		});
	}
	return wanted;
}

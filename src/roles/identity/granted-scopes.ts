import { Rejection } from '../../core/rejection.ts';

const adminScope = 'admin';

export const scopeNames: readonly string[] = ['invoke', adminScope];

/**
 * Selects the scopes of a token: the requested ones, or all of the client except admin, which must be requested explicitly.
 * @param requested as received: scopes with their base, separated by single blanks.
 * @param granted scope names without the base.
 * @returns scopes with their base, each once: in the requested order, or that of `granted`.
 * @throws `Rejection` `invalid_scope`.
 */
export function grantScopes(requested: string | undefined, granted: readonly string[], scopeBase: string): string[] {
	const available = granted.map((name) => `${scopeBase}/${name}`);
	if (requested === undefined) {
		const given = available.filter((scope) => scope !== `${scopeBase}/${adminScope}`);
		if (given.length === 0) {
			throw new Rejection('invalid_scope', {
				message: `Request scope ${scopeBase}/${adminScope} explicitly: the client has no other scope`,
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

/** Derives the caller from verified claims: with several issuers, and with rules that grant scopes and a team. */
import type { Caller } from '../../core/caller.ts';
import { type AccessRule, findAccessRule } from './access-rules.ts';
import { type ReadCaller, readClaimedCaller } from './claims.ts';
import { invalidToken } from './invalid-token.ts';

export interface CallerRules {
	readonly scopeBase: string;
	/** All accepted issuers. */
	readonly issuers: readonly AcceptedIssuer[];
	readonly rules: readonly AccessRule[];
}

export interface AcceptedIssuer {
	readonly issuer: string;
	/** Precedes the issuer's client ids, so that those of two issuers differ. Empty: client ids as they are. */
	readonly clientPrefix: string;
	/** Scopes without the scope base that its tokens may contain; null: all. */
	readonly scopes: readonly string[] | null;
}

const maxClientIdLength = 256;

/**
 * @returns a function that throws `Rejection` `token_invalid` for claims that name no caller, or whose client id could be confused with
 * another issuer's.
 */
export function createCallerReader({ scopeBase, issuers, rules }: CallerRules): ReadCaller {
	const byName = new Map(issuers.map((one) => [one.issuer, one]));
	const prefixes = issuers.map(({ clientPrefix }) => clientPrefix).filter((prefix) => prefix !== '');
	return (claims, attributeClaims) => {
		const claimed = readClaimedCaller(claims, attributeClaims);
		const { clientPrefix = '', scopes: accepted = null } = byName.get(claimed.issuer) ?? {};
		const clientId = clientPrefix + claimed.clientId;
		if (clientId.length > maxClientIdLength) throw invalidToken(`client id with its prefix is longer than ${maxClientIdLength}`);
		if (clientPrefix === '' && prefixes.some((prefix) => clientId.startsWith(prefix))) {
			throw invalidToken('client id begins with the prefix of another issuer');
		}
		const index = findAccessRule(rules, claims, claimed.issuer);
		const scopes =
			accepted === null
				? claimed.scopes
				: new Set([...claimed.scopes].filter((scope) => accepted.some((name) => scope === `${scopeBase}/${name}`)));
		const rule = rules[index];
		if (rule === undefined) return { ...claimed, clientId, scopes } satisfies Caller;
		const granted = rule.scopes.map((name) => `${scopeBase}/${name}`);
		return {
			...claimed,
			clientId,
			scopes: new Set([...scopes, ...granted]),
			grant: { rule: index, scopes: new Set(granted), team: rule.team },
		} satisfies Caller;
	};
}

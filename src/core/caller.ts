import type { Attributes } from './attributes.ts';

declare const verified: unique symbol;

/**
 * The authenticated client, proven by an access token. Only token verification (`policy/access`) makes one; a forged one does not compile.
 */
export interface Caller {
	readonly [verified]: true;
	/** The OAuth client: claim `client_id`, else `azp`, else `appid`, else `sub`, after the prefix of its issuer. */
	readonly clientId: string;
	readonly issuer: string;
	/** Scopes of the token, and those of `grant`. */
	readonly scopes: ReadonlySet<string>;
	/** Unix seconds. */
	readonly expiresAtSeconds: number;
	/** Attributes from the claims of the access token; undefined if there are none. */
	readonly attributes?: Attributes;
	/** Rule of `access.rules` that matched; undefined: none. */
	readonly grant?: CallerGrant | undefined;
}

export interface CallerGrant {
	/** Index of the rule. */
	readonly rule: number;
	readonly scopes: ReadonlySet<string>;
	/** Team of the client, whatever its id; null: the team follows from the client id. */
	readonly team: string | null;
}

import type { Attributes } from './attributes.ts';

declare const verified: unique symbol;

/**
 * The authenticated client, proven by an access token. Only token verification (`policy/access`) makes one; a forged one does not compile.
 */
export interface Caller {
	readonly [verified]: true;
	/** The OAuth client: claim `client_id`, else `azp`, else `appid`, else `sub`. */
	readonly clientId: string;
	readonly issuer: string;
	readonly scopes: ReadonlySet<string>;
	/** Unix seconds. */
	readonly expiresAtSeconds: number;
	/** Attributes from the claims of the access token; undefined if there are none. */
	readonly attributes?: Attributes;
}

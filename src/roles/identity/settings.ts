import type { ScryptCost } from '../../stores/contracts/client-secret.ts';

/** A change of `listen`, `issuer`, `audience`, `scopeBase`, `keyOverlapSeconds` and `trustedProxies` needs a new role; the rest `reconfigure` takes. */
export interface IdentitySettings extends LiveSettings {
	/** Port 0 takes a free one. */
	readonly listen: { readonly host: string; readonly port: number };
	/** The URL under which callers reach this role, claim `iss`; may have a path. */
	readonly issuer: string;
	/** Claim `aud`; null leaves it out. */
	readonly audience: string | null;
	/** Scopes are `{scopeBase}/invoke` and `{scopeBase}/admin`. */
	readonly scopeBase: string;
	/** How long a new key is published before it signs, and an old one beyond the end of its last token. */
	readonly keyOverlapSeconds: number;
	/** Addresses and CIDR ranges whose `x-forwarded-for` is believed when wrong secrets are counted by address. */
	readonly trustedProxies: readonly string[];
	/** 1,000 unless given, and at most. */
	readonly maxConnections?: number | undefined;
	/** What clients configured in clear are hashed with, and unknown ones are made to cost. Left out: the default. */
	readonly secretCost?: ScryptCost;
}

export interface LiveSettings {
	readonly accessTokenSeconds: number;
	/** Age at which the signing key is replaced. */
	readonly keyRotationSeconds: number;
	/** Wrong secrets for one client from one address, before 429. */
	readonly maxAttemptsPerMinute: number;
	/** Beside those of the record store, and before them where an id is in both. */
	readonly configuredClients: readonly ConfiguredClient[];
	/** How long what is in flight may go on after `stop`. */
	readonly graceMs: number;
}

/** Exactly one of `secret` and `secretHash` is given. */
export interface ConfiguredClient {
	readonly id: string;
	readonly name: string;
	readonly secret?: string | null | undefined;
	/** `scrypt$N$r$p$salt$hash`, base64url. */
	readonly secretHash?: string | null | undefined;
	/** Scope names without the scope base. */
	readonly scopes: readonly string[];
}

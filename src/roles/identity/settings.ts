import type { ScryptCost } from '../../stores/contracts/client-secret.ts';

/** Settings that require a new role; `reconfigure` applies those of `LiveSettings`. */
export interface IdentitySettings extends LiveSettings {
	/** Port 0 selects a free one. */
	readonly listen: { readonly host: string; readonly port: number };
	/** URL under which clients reach this role, claim `iss`; may have a path. */
	readonly issuer: string;
	/** Claim `aud`; null omits it. */
	readonly audience: string | null;
	/** Base of the scopes `{scopeBase}/invoke` and `{scopeBase}/admin`. */
	readonly scopeBase: string;
	/** Time for which a new key is published before it signs, and an old one after its last token expires. */
	readonly keyOverlapSeconds: number;
	/** Addresses and CIDR ranges whose `x-forwarded-for` is trusted when wrong secrets are counted by address. */
	readonly trustedProxies: readonly string[];
	/** 1,000 by default, which is also the maximum. */
	readonly maxConnections?: number | undefined;
	/** Hashing cost of plain-text secrets in the configuration, and of the decoy for unknown clients. Optional. */
	readonly secretCost?: ScryptCost;
}

export interface LiveSettings {
	readonly accessTokenSeconds: number;
	/** Age at which the signing key is replaced. */
	readonly keyRotationSeconds: number;
	/** Wrong secrets per client and address before 429. */
	readonly maxAttemptsPerMinute: number;
	/** Clients in addition to those of the record store. They take precedence where both have an id. */
	readonly configuredClients: readonly ConfiguredClient[];
	/** Maximum time for in-flight requests to finish after `stop`. */
	readonly graceMs: number;
}

/** A client with exactly one of `secret` and `secretHash`. */
export interface ConfiguredClient {
	readonly id: string;
	readonly name: string;
	readonly secret?: string | null | undefined;
	/** `scrypt$N$r$p$salt$hash`, base64url. */
	readonly secretHash?: string | null | undefined;
	/** Scope names without the scope base. */
	readonly scopes: readonly string[];
}

/** Credentials that stop working at a known time. */

export interface Credential {
	readonly kind: 'client_secret' | 'signing_key' | 'certificate' | 'provider_key';
	/** Name for operators: the client, key id, host or provider. Never the credential itself. */
	readonly name: string;
	/** Unix milliseconds. */
	readonly expiresAtMs: number;
	/** True if another credential of the same kind and name stays valid. */
	readonly isReplaced: boolean;
}

/** Returns the credentials that expire within a time and have not expired. */
export function expiringWithin(credentials: readonly Credential[], withinMs: number, nowMs: number): Credential[] {
	return credentials.filter(({ expiresAtMs }) => expiresAtMs > nowMs && expiresAtMs <= nowMs + withinMs);
}

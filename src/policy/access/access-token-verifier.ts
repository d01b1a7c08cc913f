import type { Caller } from '../../core/caller.ts';

/** Judges access tokens. Synchronous when the verdict on this very token is already known. */
export interface AccessTokenVerifier {
	/** Names a token in memory, and is of no use to whoever reads it there. */
	digest?(accessToken: string): string;
	/**
	 * @param accessToken as received, without a scheme.
	 * @param digest of this token, where the caller has kept it.
	 * @throws Refusal `token_invalid`; Fault `key_set_unavailable` when no key set was ever fetched.
	 */
	verify(accessToken: string, digest?: string): Caller | Promise<Caller>;
}

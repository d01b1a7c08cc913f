import type { Caller } from '../../core/caller.ts';

/** Verifies access tokens, synchronously when the result for the same token is cached. */
export interface AccessTokenVerifier {
	/** Returns a cache key for a token, which cannot be used as a credential. */
	digest?(accessToken: string): string;
	/**
	 * @param accessToken as received, without a scheme.
	 * @param digest of this token, if it was computed before.
	 * @throws {Rejection} `token_invalid`.
	 * @throws {UpstreamError} `key_set_unavailable` when no key set was ever fetched.
	 */
	verify(accessToken: string, digest?: string): Caller | Promise<Caller>;
}

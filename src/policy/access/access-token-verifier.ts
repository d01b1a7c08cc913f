import type { Caller } from '../../core/caller.ts';

/** Judges access tokens. Synchronous when the verdict on this very token is already known. */
export interface AccessTokenVerifier {
	/**
	 * @param accessToken as received, without a scheme.
	 * @throws Refusal `token_invalid`; Fault `key_set_unavailable` when no key set was ever fetched.
	 */
	verify(accessToken: string): Caller | Promise<Caller>;
}

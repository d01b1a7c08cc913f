/** Verification of access tokens, shared by all roles that accept them. */
import type { Config } from '../config/schema.ts';
import { createAccessTokenVerifier } from '../io/access-tokens.ts';
import { KeySet } from '../io/key-set.ts';
import { remoteKeySet } from '../io/key-set-source.ts';
import type { AccessTokenVerifier } from '../policy/access/access-token-verifier.ts';
import type { Identity } from '../roles/identity/identity.ts';
import type { AppContext } from './app-context.ts';
import { rebuildOnChange } from './rebuild-on-change.ts';
import { accessTokenSettings, keySetSettings } from './settings.ts';

/** Key set of the configured issuer: read directly from an embedded one, otherwise fetched. */
export function openKeySet({ config, clock, log }: AppContext, identity: Identity | undefined): KeySet {
	const source =
		identity !== undefined && config.auth.issuer === null
			? {
					// Rejects while the store is unavailable and the process has no keys.
					read: async () => identity.publishedKeySet(),
					onChange: (listener: () => void) => identity.onKeysChanged(listener),
				}
			: remoteKeySet({
					issuer: accessTokenSettings(config).issuer,
					jwksUri: config.auth.jwks_uri,
					timeoutMs: config.auth.key_set.timeout_ms,
				});
	return new KeySet(source, keySetSettings(config), { clock, log });
}

export function reconfigurableVerifier(
	{ config, clock }: AppContext,
	keySet: KeySet,
): AccessTokenVerifier & { prepare(config: Config): () => void } {
	const verifier = rebuildOnChange(config, accessTokenSettings, (settings) => createAccessTokenVerifier(settings, { keySet, clock }));
	return {
		digest: (accessToken) => verifier.current.digest(accessToken),
		verify: (accessToken, digest) => verifier.current.verify(accessToken, digest),
		prepare: verifier.prepare,
	};
}

/** Verification of access tokens, shared by all roles that accept them. */
import type { Config } from '../config/schema.ts';
import { createAccessTokenVerifier } from '../io/access-tokens.ts';
import { KeySet } from '../io/key-set.ts';
import { type KeySetSource, remoteKeySet } from '../io/key-set-source.ts';
import { KeySets } from '../io/key-sets.ts';
import type { AccessTokenVerifier } from '../policy/access/access-token-verifier.ts';
import type { Identity } from '../roles/identity/identity.ts';
import type { AppContext } from './app-context.ts';
import { rebuildOnChange } from './rebuild-on-change.ts';
import { accessTokenSettings, keySetSettings } from './settings.ts';

/** Key sets of the configured issuers: that of an embedded one is read directly, others are fetched. */
export function openKeySets({ config, clock, log }: AppContext, identity: Identity | undefined): KeySets {
	const { issuer, otherIssuers } = accessTokenSettings(config);
	const { jwks_uri: jwksUri, key_set: keySet } = config.auth;
	const open = (source: KeySetSource): KeySet => new KeySet(source, keySetSettings(config), { clock, log });
	const remote = (named: string, address: string | null): KeySet =>
		open(remoteKeySet({ issuer: named, jwksUri: address, timeoutMs: keySet.timeout_ms }));
	const first =
		identity !== undefined && config.auth.issuer === null
			? open({
					// Rejects while the store is unavailable and the process has no keys.
					read: async () => identity.publishedKeySet(),
					onChange: (listener: () => void) => identity.onKeysChanged(listener),
				})
			: remote(issuer, jwksUri);
	return new KeySets(first, new Map(otherIssuers.map((other) => [other.issuer, remote(other.issuer, other.jwksUri)])));
}

export function reconfigurableVerifier(
	{ config, clock }: AppContext,
	{ first, others }: KeySets,
): AccessTokenVerifier & { prepare(config: Config): () => void } {
	const verifier = rebuildOnChange(config, accessTokenSettings, (settings) =>
		createAccessTokenVerifier(settings, { keySet: first, otherKeySets: others, clock }),
	);
	return {
		digest: (accessToken) => verifier.current.digest(accessToken),
		verify: (accessToken, digest) => verifier.current.verify(accessToken, digest),
		prepare: verifier.prepare,
	};
}

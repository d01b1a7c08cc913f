/** Encrypts the private halves of signing keys in the underlying store. Unencrypted ones are encrypted in place. */

import type { Log } from '../core/log.ts';
import { UpstreamError } from '../core/upstream-error.ts';
import type { PrivateJwkChange, SigningKeyRecord, SigningKeyStore } from './contracts/records.ts';
import { DecryptionFailed, type Encryption, encryptionKeyIdOf } from './encryption.ts';

/**
 * Calls `encryption` each time, so that keys can change; if it returns undefined, new keys stay unencrypted.
 * @returns a store that takes and returns unencrypted keys. `list` also encrypts keys that are unencrypted or use another encryption key
 * than the current one. It fails with `UpstreamError` `records_unavailable` when a row cannot be decrypted.
 */
export function createEncryptedSigningKeys(store: SigningKeyStore, encryption: () => Encryption | undefined, log: Log): SigningKeyStore {
	let isFailing = false;

	async function reencrypt(changes: readonly PrivateJwkChange[], encryptedWith: string): Promise<void> {
		try {
			await store.replacePrivateJwks(changes);
			log.info('signing keys encrypted', { kids: changes.map(({ kid }) => kid), encryptedWith });
			isFailing = false;
		} catch (cause) {
			// The keys remain usable; the next list retries.
			if (!isFailing) log.warn('signing keys could not be encrypted', { cause });
			isFailing = true;
		}
	}

	return {
		async list() {
			const now = encryption();
			const stored = await store.list();
			const opened = stored.map((record) => openRecord(record, now));
			if (now !== undefined) {
				const changes = stored.flatMap(({ kid, privateJwk: from }, index) => {
					const text = opened[index]?.privateJwk;
					if (text === undefined || encryptionKeyIdOf(from) === now.keyId) return [];
					return [{ kid, from, to: now.encrypt(text, positionOf(kid)) }];
				});
				if (changes.length > 0) await reencrypt(changes, now.keyId);
			}
			return opened;
		},
		rotate: (key, ...rest) =>
			store.rotate({ ...key, privateJwk: encryption()?.encrypt(key.privateJwk, positionOf(key.kid)) ?? key.privateJwk }, ...rest),
		prune: (nowMs) => store.prune(nowMs),
		replacePrivateJwks: (changes) => store.replacePrivateJwks(changes),
	};
}

function openRecord(record: SigningKeyRecord, encryption: Encryption | undefined): SigningKeyRecord {
	const { kid, privateJwk } = record;
	// An unencrypted key is JSON.
	if (privateJwk.startsWith('{')) return record;
	try {
		if (encryption === undefined) throw new DecryptionFailed('is encrypted, and no `identity.encryption_key` is configured');
		return { ...record, privateJwk: encryption.decrypt(privateJwk, positionOf(kid)) };
	} catch (cause) {
		if (!(cause instanceof DecryptionFailed)) throw cause;
		const remedy = 'restore the encryption key or the record; to discard the signing keys see docs/guide/signing-keys.md';
		throw new UpstreamError('records_unavailable', { message: `the record ${kid} of signing_keys ${cause.message}: ${remedy}`, cause });
	}
}

/** Table and row. */
function positionOf(kid: string): string {
	return `signing_keys/${kid}`;
}

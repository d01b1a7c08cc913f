import type { Config } from '../config/schema.ts';
import type { Log } from '../core/log.ts';
import type { SigningKeyStore } from '../stores/contracts/records.ts';
import { createEncryptedSigningKeys } from '../stores/encrypted-signing-keys.ts';
import { createEncryption, type Encryption, parseEncryptionKeys } from '../stores/encryption.ts';
import { readEncryptionKeyFile } from '../stores/encryption-key-file.ts';

export interface OpenedSigningKeys {
	readonly signingKeys: SigningKeyStore;
	/** @returns a function that puts the encryption keys of `config` in force. @throws StoreUnusable. */
	prepareEncryption(config: Config): () => void;
}

/** Opens the signing keys for identity: plain text, from a store that has them encrypted at rest. @throws StoreUnusable. */
export function openSigningKeys(config: Config, stored: SigningKeyStore, log: Log): OpenedSigningKeys {
	let encryption = openEncryption(encryptionSettings(config));
	if (encryption === undefined) {
		log.warn('signing keys are stored unencrypted in PostgreSQL', {
			remedy: 'set identity.encryption_key_file, the same in every identity process',
		});
	}
	const signingKeys = createEncryptedSigningKeys(stored, () => encryption, log);
	return {
		signingKeys,
		prepareEncryption(next) {
			const prepared = openEncryption(encryptionSettings(next));
			return () => {
				const isSame = prepared?.keyId === encryption?.keyId;
				encryption = prepared;
				// Encrypts the stored keys with the new encryption key at once; identity's next read would do so within a minute.
				if (!isSame) signingKeys.list().catch((cause: unknown) => log.error('signing keys cannot be decrypted', { cause }));
			};
		},
	};
}

export interface EncryptionSettings {
	/** Text that `parseEncryptionKeys` reads; null if none is configured. */
	readonly configured: string | null;
	/** Directory of embedded records, in which a key is generated. Several processes on PostgreSQL could not agree on generated keys. */
	readonly dataDir: string | null;
}

export function encryptionSettings({ data_dir: dataDir, identity, stores }: Config): EncryptionSettings {
	return { configured: identity.encryption_key, dataDir: stores.records === 'sqlite' ? dataDir : null };
}

function openEncryption({ configured, dataDir }: EncryptionSettings): Encryption | undefined {
	const named = configured === null ? [] : parseEncryptionKeys(configured);
	if (named === undefined) throw new Error('identity.encryption_key is invalid although the schema accepted it');
	const ofFile = dataDir === null ? [] : readEncryptionKeyFile(dataDir, configured === null);
	const [first, ...others] = [...named, ...ofFile];
	return first === undefined ? undefined : createEncryption([first, ...others]);
}

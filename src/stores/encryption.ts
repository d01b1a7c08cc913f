/** Encryption at rest with AES-256-GCM, bound to the row of each text. The store alone reveals nothing. */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';

export interface Encryption {
	/** Id of the encrypting key; reveals nothing about the key. */
	readonly keyId: string;
	/** @param place identifies the row: a text encrypted for one row cannot be decrypted in another. */
	encrypt(text: string, place: string): string;
	/** @throws DecryptionFailed. */
	decrypt(encrypted: string, place: string): string;
}

/** The message completes a sentence that begins with “it”. */
export class DecryptionFailed extends Error {
	override readonly name = 'DecryptionFailed';
}

/**
 * Prefix of an encrypted text. It contains no `{`, with which an unencrypted key begins, nor any character that one flipped bit turns into
 * `{`.
 */
const cipher = 'aes-256-gcm';
const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;

/** @param keys the first one encrypts, all of them decrypt. */
export function createEncryption(keys: readonly [Buffer, ...Buffer[]]): Encryption {
	const byId = new Map(keys.map((key) => [idOf(key), key]));
	const [encryptionKey] = keys;
	const keyId = idOf(encryptionKey);
	return {
		keyId,
		encrypt(text, place) {
			const nonce = randomBytes(nonceBytes);
			const encipher = createCipheriv(cipher, encryptionKey, nonce, { authTagLength: tagBytes }).setAAD(Buffer.from(place));
			const bytes = Buffer.concat([nonce, encipher.update(text, 'utf8'), encipher.final(), encipher.getAuthTag()]);
			return `${cipher}:${keyId}:${bytes.toString('base64url')}`;
		},
		decrypt(encrypted, place) {
			const [found, id = '', encoded = '', ...rest] = encrypted.split(':');
			const bytes = Buffer.from(encoded, 'base64url');
			// Several texts decode to the same bytes; only the canonical one is valid.
			const isWhole = bytes.length >= nonceBytes + tagBytes && bytes.toString('base64url') === encoded;
			if (found !== cipher || rest.length > 0 || !isWhole) throw new DecryptionFailed('is not a complete encrypted value');
			const key = byId.get(id);
			if (key === undefined) {
				throw new DecryptionFailed(`is encrypted with key ${id}, which is not configured (configured: ${[...byId.keys()].join(', ')})`);
			}
			const tagAt = bytes.length - tagBytes;
			const decipher = createDecipheriv(cipher, key, bytes.subarray(0, nonceBytes), { authTagLength: tagBytes });
			decipher.setAAD(Buffer.from(place)).setAuthTag(bytes.subarray(tagAt));
			try {
				return Buffer.concat([decipher.update(bytes.subarray(nonceBytes, tagAt)), decipher.final()]).toString('utf8');
			} catch (cause) {
				throw new DecryptionFailed('was altered, or belongs to another row', { cause });
			}
		},
	};
}

/** Undefined when the text is not encrypted. */
export function encryptionKeyIdOf(text: string): string | undefined {
	const [found, id] = text.split(':', 2);
	return found === cipher ? id : undefined;
}

/**
 * Parses keys of 32 bytes in base64, base64url or hex, separated by blanks, line breaks or commas.
 * @returns undefined when there is none, or any invalid one.
 */
export function parseEncryptionKeys(text: string): [Buffer, ...Buffer[]] | undefined {
	const [first, ...others] = text
		.split(/[\s,]+/)
		.filter((piece) => piece !== '')
		.map((piece) => Buffer.from(piece, /^[0-9a-f]{64}$/i.test(piece) ? 'hex' : 'base64'));
	return first === undefined || [first, ...others].some(({ length }) => length !== keyBytes) ? undefined : [first, ...others];
}

export function newEncryptionKey(): string {
	return randomBytes(keyBytes).toString('base64');
}

/** A digest of 256 random bits reveals nothing. */
function idOf(key: Buffer): string {
	return createHash('sha256').update('tollgate sealing key').update(key).digest('hex').slice(0, 16);
}

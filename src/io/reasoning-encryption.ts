import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { memoize } from '../core/bounded-map.ts';
import type { ReasoningEncryption } from '../wire/conversation/reasoning-encryption.ts';

const cipher = 'aes-256-gcm';
const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;

/**
 * Encrypts with AES-256-GCM. The key follows from the provider's own key, which all gateways share that send to it, so any of them decrypts
 * what another one encrypted. The team is authenticated data.
 * @param secret key of the provider.
 */
export function createReasoningEncryption(): (secret: string, team: string) => ReasoningEncryption {
	const keyOf = memoize(1000, (secret: string) => Buffer.from(hkdfSync('sha256', secret, '', 'tollgate reasoning', keyBytes)));
	return (secret, team) => ({
		encrypt(reasoning) {
			const nonce = randomBytes(nonceBytes);
			const encipher = createCipheriv(cipher, keyOf(secret), nonce, { authTagLength: tagBytes }).setAAD(Buffer.from(team));
			const parts = [nonce, encipher.update(reasoning, 'utf8'), encipher.final(), encipher.getAuthTag()];
			return Buffer.concat(parts).toString('base64url');
		},
		decrypt(encrypted) {
			const bytes = Buffer.from(encrypted, 'base64url');
			if (bytes.length < nonceBytes + tagBytes) return undefined;
			const tagAt = bytes.length - tagBytes;
			const decipher = createDecipheriv(cipher, keyOf(secret), bytes.subarray(0, nonceBytes), { authTagLength: tagBytes });
			decipher.setAAD(Buffer.from(team)).setAuthTag(bytes.subarray(tagAt));
			try {
				return Buffer.concat([decipher.update(bytes.subarray(nonceBytes, tagAt)), decipher.final()]).toString('utf8');
			} catch {
				return undefined;
			}
		},
	});
}

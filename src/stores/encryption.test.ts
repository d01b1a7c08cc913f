import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createEncryption, DecryptionFailed, encryptionKeyIdOf, newEncryptionKey, parseEncryptionKeys } from './encryption.ts';

const [one, other] = [randomBytes(32), randomBytes(32)];
const place = 'signing_keys/kid-1';
const text = '{"kty":"RSA","d":"the private exponent"}';

describe('an encrypted text', () => {
	const encryption = createEncryption([one]);
	const encrypted = encryption.encrypt(text, place);

	test('is decrypted in its own row, names its key, and reveals nothing', () => {
		expect(encryption.decrypt(encrypted, place)).toBe(text);
		expect(encryptionKeyIdOf(encrypted)).toBe(encryption.keyId);
		expect(encrypted).not.toContain('private');
		expect(Buffer.from(encrypted.split(':')[2] ?? '', 'base64url').toString('latin1')).not.toContain('private');
		expect(one.toString('hex')).not.toContain(encryption.keyId);
	});

	test('is another each time', () => {
		expect(new Set(Array.from({ length: 100 }, () => encryption.encrypt(text, place))).size).toBe(100);
	});

	test.each(['signing_keys/kid-2', 'clients/kid-1', 'signing_keys/kid-1 ', '', 'signing_keys/kid-'])('is rejected in %j', (elsewhere) => {
		expect(() => encryption.decrypt(encrypted, elsewhere)).toThrow(DecryptionFailed);
	});

	test('is rejected with any of its bits flipped', () => {
		const bytes = Buffer.from(encrypted);
		for (let bit = 0; bit < bytes.length * 8; bit++) {
			const flipped = Buffer.from(bytes);
			flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
			expect(() => encryption.decrypt(flipped.toString('latin1'), place), `bit ${bit}`).toThrow(DecryptionFailed);
			expect(flipped.toString('latin1').startsWith('{'), `bit ${bit} makes it look like a key in clear`).toBe(false);
		}
	});

	test('is rejected with any bit of nonce, ciphertext or tag flipped', () => {
		const [cipher, id, encoded = ''] = encrypted.split(':');
		const bytes = Buffer.from(encoded, 'base64url');
		for (let bit = 0; bit < bytes.length * 8; bit++) {
			const flipped = Buffer.from(bytes);
			flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
			const changed = [cipher, id, flipped.toString('base64url')].join(':');
			expect(() => encryption.decrypt(changed, place), `bit ${bit}`).toThrow('was altered, or belongs to another row');
		}
	});

	test('is rejected when it is truncated or extended', () => {
		for (let length = 0; length < encrypted.length; length++) {
			expect(() => encryption.decrypt(encrypted.slice(0, length), place), `the first ${length}`).toThrow(DecryptionFailed);
		}
		for (const more of ['A', 'AAAA', '=', ':', ':A', ' ', '\n']) {
			expect(() => encryption.decrypt(encrypted + more, place)).toThrow(DecryptionFailed);
		}
	});

	test('is rejected under another key, also one with the same id', () => {
		const stranger = createEncryption([other]);
		expect(() => stranger.decrypt(encrypted, place)).toThrow(`is encrypted with key ${encryption.keyId}, which is not configured`);
		const renamed = encrypted.replace(encryption.keyId, stranger.keyId);
		expect(() => stranger.decrypt(renamed, place)).toThrow('was altered');
	});

	test('of an older key is decrypted; new texts use the first key', () => {
		const rotated = createEncryption([other, one]);
		expect(rotated.decrypt(encrypted, place)).toBe(text);
		const again = rotated.encrypt(text, place);
		expect(createEncryption([other]).decrypt(again, place)).toBe(text);
		expect(() => encryption.decrypt(again, place)).toThrow(DecryptionFailed);
	});

	test('may be any, for any row', () => {
		const anything = fc.string({ unit: 'grapheme' });
		fc.assert(
			fc.property(anything, anything, (anyText, anyPosition) => {
				expect(encryption.decrypt(encryption.encrypt(anyText, anyPosition), anyPosition)).toBe(anyText);
			}),
		);
	});

	test('is none that was made up', () => {
		fc.assert(
			fc.property(fc.string(), (madeUp) => {
				expect(() => encryption.decrypt(madeUp, place)).toThrow(DecryptionFailed);
				expect(() => encryption.decrypt(`aes-256-gcm:${encryption.keyId}:${madeUp}`, place)).toThrow(DecryptionFailed);
			}),
		);
	});
});

describe('encryption keys as text', () => {
	test.each([
		['base64', one.toString('base64')],
		['base64 without padding', one.toString('base64').replace('=', '')],
		['base64url', one.toString('base64url')],
		['hex', one.toString('hex')],
		['hex in capitals', one.toString('hex').toUpperCase()],
		['a line', `${one.toString('hex')}\n`],
	])('%s', (_name, given) => {
		expect(parseEncryptionKeys(given)).toEqual([one]);
	});

	test('several, in their order', () => {
		expect(parseEncryptionKeys(`${other.toString('base64')}\n${one.toString('hex')}\r\n`)).toEqual([other, one]);
		expect(parseEncryptionKeys(`${other.toString('base64')}, ${one.toString('hex')}`)).toEqual([other, one]);
	});

	test.each(['', ' \n', 'short', randomBytes(31).toString('base64'), randomBytes(33).toString('hex'), `${one.toString('hex')} x`])(
		'not %j',
		(given) => {
			expect(parseEncryptionKeys(given)).toBeUndefined();
		},
	);

	test('a new one is one', () => {
		expect(parseEncryptionKeys(newEncryptionKey())).toHaveLength(1);
		expect(newEncryptionKey()).not.toBe(newEncryptionKey());
	});
});

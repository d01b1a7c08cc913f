import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createSealing, DecryptionFailed, newSealingKey, parseSealingKeys, sealingKeyIdOf } from './encryption.ts';

const [one, other] = [randomBytes(32), randomBytes(32)];
const place = 'signing_keys/kid-1';
const text = '{"kty":"RSA","d":"the private exponent"}';

describe('an encrypted text', () => {
	const sealing = createSealing([one]);
	const sealed = sealing.seal(text, place);

	test('is decrypted in its own row, names its key, and reveals nothing', () => {
		expect(sealing.open(sealed, place)).toBe(text);
		expect(sealingKeyIdOf(sealed)).toBe(sealing.keyId);
		expect(sealed).not.toContain('private');
		expect(Buffer.from(sealed.split(':')[2] ?? '', 'base64url').toString('latin1')).not.toContain('private');
		expect(one.toString('hex')).not.toContain(sealing.keyId);
	});

	test('is another each time', () => {
		expect(new Set(Array.from({ length: 100 }, () => sealing.seal(text, place))).size).toBe(100);
	});

	test.each(['signing_keys/kid-2', 'clients/kid-1', 'signing_keys/kid-1 ', '', 'signing_keys/kid-'])('is rejected in %j', (elsewhere) => {
		expect(() => sealing.open(sealed, elsewhere)).toThrow(DecryptionFailed);
	});

	test('is rejected with any of its bits flipped', () => {
		const bytes = Buffer.from(sealed);
		for (let bit = 0; bit < bytes.length * 8; bit++) {
			const flipped = Buffer.from(bytes);
			flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
			expect(() => sealing.open(flipped.toString('latin1'), place), `bit ${bit}`).toThrow(DecryptionFailed);
			expect(flipped.toString('latin1').startsWith('{'), `bit ${bit} makes it look like a key in clear`).toBe(false);
		}
	});

	test('is rejected with any bit of nonce, ciphertext or tag flipped', () => {
		const [cipher, id, encoded = ''] = sealed.split(':');
		const bytes = Buffer.from(encoded, 'base64url');
		for (let bit = 0; bit < bytes.length * 8; bit++) {
			const flipped = Buffer.from(bytes);
			flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
			const changed = [cipher, id, flipped.toString('base64url')].join(':');
			expect(() => sealing.open(changed, place), `bit ${bit}`).toThrow('was altered, or belongs to another row');
		}
	});

	test('is rejected when it is truncated or extended', () => {
		for (let length = 0; length < sealed.length; length++) {
			expect(() => sealing.open(sealed.slice(0, length), place), `the first ${length}`).toThrow(DecryptionFailed);
		}
		for (const more of ['A', 'AAAA', '=', ':', ':A', ' ', '\n']) expect(() => sealing.open(sealed + more, place)).toThrow(DecryptionFailed);
	});

	test('is rejected under another key, also one with the same id', () => {
		const stranger = createSealing([other]);
		expect(() => stranger.open(sealed, place)).toThrow(`is encrypted with key ${sealing.keyId}, which is not configured`);
		const renamed = sealed.replace(sealing.keyId, stranger.keyId);
		expect(() => stranger.open(renamed, place)).toThrow('was altered');
	});

	test('of an older key is decrypted; new texts use the first key', () => {
		const rotated = createSealing([other, one]);
		expect(rotated.open(sealed, place)).toBe(text);
		const anew = rotated.seal(text, place);
		expect(createSealing([other]).open(anew, place)).toBe(text);
		expect(() => sealing.open(anew, place)).toThrow(DecryptionFailed);
	});

	test('may be any, for any row', () => {
		const anything = fc.string({ unit: 'grapheme' });
		fc.assert(
			fc.property(anything, anything, (anyText, anyPlace) => {
				expect(sealing.open(sealing.seal(anyText, anyPlace), anyPlace)).toBe(anyText);
			}),
		);
	});

	test('is none that was made up', () => {
		fc.assert(
			fc.property(fc.string(), (madeUp) => {
				expect(() => sealing.open(madeUp, place)).toThrow(DecryptionFailed);
				expect(() => sealing.open(`aes-256-gcm:${sealing.keyId}:${madeUp}`, place)).toThrow(DecryptionFailed);
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
		expect(parseSealingKeys(given)).toEqual([one]);
	});

	test('several, in their order', () => {
		expect(parseSealingKeys(`${other.toString('base64')}\n${one.toString('hex')}\r\n`)).toEqual([other, one]);
		expect(parseSealingKeys(`${other.toString('base64')}, ${one.toString('hex')}`)).toEqual([other, one]);
	});

	test.each(['', ' \n', 'short', randomBytes(31).toString('base64'), randomBytes(33).toString('hex'), `${one.toString('hex')} x`])(
		'not %j',
		(given) => {
			expect(parseSealingKeys(given)).toBeUndefined();
		},
	);

	test('a new one is one', () => {
		expect(parseSealingKeys(newSealingKey())).toHaveLength(1);
		expect(newSealingKey()).not.toBe(newSealingKey());
	});
});

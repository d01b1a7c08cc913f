import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createReasoningEncryption } from './reasoning-encryption.ts';

const encryption = createReasoningEncryption()('sk-one', 'search');

describe('encryption of reasoning', () => {
	it('decrypts what another gateway encrypted for the same provider and team', () => {
		fc.assert(
			fc.property(fc.string({ unit: 'grapheme' }), (reasoning) => {
				const encrypted = encryption.encrypt(reasoning);
				expect(encrypted).toMatch(/^[\w-]+$/);
				expect(createReasoningEncryption()('sk-one', 'search').decrypt(encrypted)).toBe(reasoning);
			}),
		);
	});

	it('decrypts nothing of another team or provider', () => {
		const encrypted = encryption.encrypt('thoughts');
		expect(createReasoningEncryption()('sk-one', 'billing').decrypt(encrypted)).toBeUndefined();
		expect(createReasoningEncryption()('sk-two', 'search').decrypt(encrypted)).toBeUndefined();
	});

	it('decrypts nothing that was altered or is not encrypted', () => {
		const bytes = Buffer.from(encryption.encrypt('thoughts'), 'base64url');
		for (const index of bytes.keys()) {
			const altered = Buffer.from(bytes);
			altered[index] = (altered[index] ?? 0) ^ 1;
			expect(encryption.decrypt(altered.toString('base64url'))).toBeUndefined();
		}
		for (const text of ['', 'gAAAA', 'x'.repeat(200), '\u0000']) expect(encryption.decrypt(text)).toBeUndefined();
	});
});

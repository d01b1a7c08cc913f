import fc from 'fast-check';
import { expect, test } from 'vitest';
import { OwnPages } from './own-pages.ts';

test('small pieces are kept apart from what they came with, few to a page, and stay what they were', () => {
	fc.assert(
		fc.property(fc.array(fc.nat({ max: 3000 }), { maxLength: 40 }), (lengths) => {
			const pages = new OwnPages();
			const read = Buffer.alloc(65_536);
			const kept = lengths.map((length, index) => {
				const piece = read.subarray(index, index + length).fill(index);
				const own = pages.keep(piece);
				if (length > 2048) return { own: Buffer.from(own), expected: Buffer.alloc(length, index) };
				if (own.buffer === read.buffer) expect.fail('it lies where it came');
				return { own, expected: Buffer.alloc(length, index) };
			});
			for (const { own, expected } of kept) if (!own.equals(expected)) expect.fail('another piece was written over it');
			const held = new Set(kept.filter(({ own }) => own.length > 0 && own.length <= 2048).map(({ own }) => own.buffer));
			const bytes = lengths.filter((length) => length <= 2048).reduce((sum, length) => sum + length, 0);
			expect(held.size).toBeLessThanOrEqual(Math.ceil(bytes / 2048) + 1);
		}),
	);
});

test('a large piece is not copied', () => {
	const piece = Buffer.alloc(2049);
	expect(new OwnPages().keep(piece)).toBe(piece);
});

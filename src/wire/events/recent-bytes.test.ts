import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RecentBytes } from './recent-bytes.ts';

test('keeps the requested number of bytes, or all there were, and no piece more than they need', () => {
	fc.assert(
		fc.property(fc.array(fc.nat({ max: 5000 }), { maxLength: 30 }), fc.integer({ min: 1, max: 8192 }), (lengths, min) => {
			const recent = new RecentBytes(min);
			const pieces = lengths.map((length, index) => Buffer.alloc(length, index));
			for (const piece of pieces) recent.push(Buffer.from(piece));
			const all = Buffer.concat(pieces);
			const read = recent.read();
			expect(read.length).toBeGreaterThanOrEqual(Math.min(min, all.length));
			expect(read.length - min).toBeLessThan(Math.max(...lengths, 1));
			expect(read.equals(all.subarray(all.length - read.length))).toBe(true);
		}),
	);
});

test('retains no memory of the reads in which small pieces arrived', () => {
	const recent = new RecentBytes(8192);
	const pieces = Array.from({ length: 100 }, (_, index) => Buffer.alloc(150, index));
	const all = Buffer.concat(pieces);
	for (const piece of pieces) {
		recent.push(piece);
		piece.fill(255);
	}
	const read = recent.read();
	expect(read.equals(all.subarray(all.length - read.length))).toBe(true);
});

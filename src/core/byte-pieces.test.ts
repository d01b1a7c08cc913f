import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Arena, BytePieces } from './byte-pieces.ts';

test('returns the bytes in order, and starts empty again', () => {
	fc.assert(
		fc.property(fc.array(fc.uint8Array({ maxLength: 5 }), { maxLength: 5000, size: 'max' }), (pieces) => {
			const gathered = new BytePieces();
			for (const piece of pieces) gathered.push(Buffer.from(piece));
			const whole = Buffer.concat(pieces);
			expect(gathered.length).toBe(whole.length);
			expect(gathered.take().equals(whole)).toBe(true);
			expect(gathered.length).toBe(0);
			expect(gathered.take()).toHaveLength(0);
		}),
		{ numRuns: 30 },
	);
});

test('a single piece is not copied', () => {
	const gathered = new BytePieces();
	const piece = Buffer.from('abc');
	gathered.push(piece);
	expect(gathered.take()).toBe(piece);
});

test('single bytes do not retain the reads that they arrived in', () => {
	const gathered = new BytePieces();
	const before = process.memoryUsage().arrayBuffers;
	// Each byte is a view of its own read, as from a socket.
	for (let index = 0; index < 20_000; index++) gathered.push(Buffer.allocUnsafeSlow(16_384).subarray(0, 1));
	expect(gathered.length).toBe(20_000);
	(globalThis as { gc?: () => void }).gc?.();
	// 20,000 reads of 16 KB are 328 MB. Only the last 1,024 of them may stay referenced, plus garbage that is not collected yet.
	expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(250 * 1024 * 1024);
});

test.each([
	['as announced', 600_000],
	['less', 700_000],
	['more', 500_000],
	['in one piece more', 599_999],
])('a large body of which %s arrives equals the bytes that arrived', (_, announced) => {
	const pieces = Array.from({ length: 60 }, (__, index) => Buffer.alloc(10_000, index));
	const gathered = new BytePieces(announced);
	for (const round of [1, 2]) {
		for (const piece of pieces) gathered.push(piece);
		expect(gathered.length).toBe(600_000);
		expect(gathered.take().equals(Buffer.concat(pieces)), `round ${round}`).toBe(true);
	}
});

test('a large body of announced length retains no piece, however many arrive', () => {
	const gathered = new BytePieces(300_000);
	expect([gathered.copies, new BytePieces(1000).copies]).toEqual([true, false]);
	const lent = Buffer.alloc(40_000);
	for (let index = 0; index < 10; index++) {
		lent.fill(index);
		gathered.push(lent);
	}
	lent.fill(255);
	expect(gathered.take().equals(Buffer.concat(Array.from({ length: 10 }, (_, index) => Buffer.alloc(40_000, index))))).toBe(true);
});

test('small pieces are copied into separate memory from the second on', () => {
	for (const announced of [0, 500_000]) {
		const gathered = new BytePieces(announced);
		const pieces = Array.from({ length: 3000 }, (_, index) => Buffer.alloc(1 + (index % 300), index));
		const whole = Buffer.concat(pieces);
		for (const [index, piece] of pieces.entries()) {
			gathered.push(piece);
			if (index > 0) piece.fill(255);
			if (index === 1) pieces[0]?.fill(255);
		}
		expect(gathered.take().equals(whole)).toBe(true);
	}
});

test('small pieces are copied away from their read buffer, few to a page, and stay unchanged', () => {
	fc.assert(
		fc.property(fc.array(fc.nat({ max: 3000 }), { maxLength: 40 }), (lengths) => {
			const pages = new Arena();
			const read = Buffer.alloc(65_536);
			const retained = lengths.map((length, index) => {
				const piece = read.subarray(index, index + length).fill(index);
				const own = pages.keep(piece);
				if (length > 2048) return { own: Buffer.from(own), expected: Buffer.alloc(length, index) };
				if (own.buffer === read.buffer) expect.fail('it lies where it came');
				return { own, expected: Buffer.alloc(length, index) };
			});
			for (const { own, expected } of retained) if (!own.equals(expected)) expect.fail('another piece was written over it');
			const buffers = new Set(retained.filter(({ own }) => own.length > 0 && own.length <= 2048).map(({ own }) => own.buffer));
			const bytes = lengths.filter((length) => length <= 2048).reduce((sum, length) => sum + length, 0);
			expect(buffers.size).toBeLessThanOrEqual(Math.ceil(bytes / 2048) + 1);
		}),
	);
});

test('a large piece is not copied', () => {
	const piece = Buffer.alloc(2049);
	expect(new Arena().keep(piece)).toBe(piece);
});

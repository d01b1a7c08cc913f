import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fromPostgresText, toPostgresText, toPostgresValue } from './postgres-text.ts';

const hostileText = fc.string({ unit: fc.constantFrom('\u0000', '\u0001', '\u0002', '\u0003', 'a', 'ü', '\\') });

test('every text comes back as it was, without U+0000 on its way', () => {
	fc.assert(
		fc.property(hostileText, (text) => {
			expect(toPostgresText(text)).not.toContain('\u0000');
			expect(fromPostgresText(toPostgresText(text))).toBe(text);
		}),
	);
});

test('texts keep their order', () => {
	fc.assert(
		fc.property(hostileText, hostileText, (left, right) => {
			expect(toPostgresText(left) < toPostgresText(right)).toBe(left < right);
		}),
	);
});

test('lists are lists of texts, and other values are unchanged', () => {
	expect(toPostgresValue(['\u0000', ['a']])).toEqual(['\u0001\u0001', ['a']]);
	expect([1n, 1.5, null, true].map(toPostgresValue)).toEqual([1n, 1.5, null, true]);
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Rejection } from '../../core/rejection.ts';
import { parseTokenForm } from './token-form.ts';

test('the output of URLSearchParams is read back, without empty values', () => {
	const text = fc.string({ unit: 'grapheme' }).filter((value) => !value.includes('\0'));
	fc.assert(
		fc.property(fc.uniqueArray(fc.tuple(text, text), { selector: ([name]) => name }), (pairs) => {
			const form = parseTokenForm(Buffer.from(new URLSearchParams(pairs).toString()));
			expect([...form]).toEqual(pairs.filter(([, value]) => value !== ''));
		}),
	);
});

test('any bytes are either parsed or rejected as an invalid request', () => {
	fc.assert(
		fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
			try {
				for (const [name, value] of parseTokenForm(Buffer.from(bytes))) expect(`${name}${value}`).not.toContain('\0');
			} catch (cause) {
				expect(cause).toBeInstanceOf(Rejection);
				expect(cause).toHaveProperty('code', 'invalid_request');
			}
		}),
		{ numRuns: 1000 },
	);
});

test.each(['a=1&a=2', 'a=1&a=', 'a&a', 'a=1&%61=2', 'a=%', 'a=%g0', 'a=%c3', 'a=%ed%a0%80', '%00=1', 'a=\0'])('%j is rejected', (text) => {
	expect(() => parseTokenForm(Buffer.from(text))).toThrow(Rejection);
});

test('names of object members are names like any other', () => {
	expect([...parseTokenForm(Buffer.from('__proto__=a&constructor=b&a+b=c+d'))]).toEqual([
		['__proto__', 'a'],
		['constructor', 'b'],
		['a b', 'c d'],
	]);
});

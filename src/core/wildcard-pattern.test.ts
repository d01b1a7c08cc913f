import fc from 'fast-check';
import { expect, test } from 'vitest';
import { matchesWildcard } from './wildcard-pattern.ts';

test.each([
	['admins', 'admins', true],
	['admins', 'Admins', false],
	['admins', 'admins ', false],
	['admins', 'platform-admins', false],
	['*', '', true],
	['*', 'anything', true],
	['platform-*', 'platform-', true],
	['platform-*', 'platform', false],
	['*-admins', 'x-admins', true],
	['*-admins', 'x-admins-not', false],
	['a*a', 'a', false],
	['a*a', 'aa', true],
	['a*b*c', 'a-b-b-c', true],
	['a*b*c', 'a-c', false],
	['ab*bc', 'abc', false],
	['.*', 'xx', false],
	['[a-z]', 'a', false],
	['**', '', true],
])('%j and %j: %s', (pattern, text, matches) => {
	expect(matchesWildcard(pattern, text)).toBe(matches);
});

test('is the same as an anchored regular expression', () => {
	const texts = fc.string({ unit: fc.constantFrom('a', 'b', '*', '.'), maxLength: 8 });
	fc.assert(
		fc.property(texts, texts, (pattern, text) => {
			const expression = new RegExp(`^${pattern.replaceAll('.', '\\.').replaceAll('*', '[^]*')}$`);
			expect(matchesWildcard(pattern, text)).toBe(expression.test(text));
		}),
		{ numRuns: 2000 },
	);
});

test('is linear for patterns with many stars', () => {
	expect(matchesWildcard(`${'a*'.repeat(60)}b`, 'a'.repeat(8000))).toBe(false);
});

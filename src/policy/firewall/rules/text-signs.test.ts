import { expect, test } from 'vitest';
import { signsOf, splitByNeeds } from './text-signs.ts';

const needsOf = (pattern: RegExp): [string, number][] => splitByNeeds(pattern).map((part) => [part.pattern.source, part.needs]);

test.each<[RegExp, string]>([
	[/a\(b/, '('],
	[/a\(?b/, ''],
	[/a\(*b=/, '='],
	[/a\({0,3}b/, ''],
	[/a\({1,3}b/, '('],
	[/[(]a/, ''],
	[/[\\/]a/, '/'],
	[/(?:a\(|b\(<)c/, '('],
	[/(?:a|b\()c:/, ':'],
	[/(?!\()a/, ''],
	[/(?<=\()a_/, '_'],
	[/a\nb/, '\n'],
	[/\w\.\d/, '.'],
	[/^a.b$/, ''],
	[/"[^"\])]{1,80}'/, '"\''],
])('%s needs %s', (pattern, signs) => {
	expect(needsOf(pattern)).toEqual([[pattern.source, signsOf(signs)]]);
});

test('alternatives are parted by what they need, and still match the same', () => {
	const parts = splitByNeeds(/a\(|b\(|c<|d(?:e|\|)/i);
	expect(parts.map(({ pattern, needs }) => [pattern.source, pattern.flags, needs])).toEqual([
		['a\\(|b\\(', 'i', signsOf('(')],
		['c<', 'i', signsOf('<')],
		['d(?:e|\\|)', 'i', 0],
	]);
});

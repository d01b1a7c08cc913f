import { expect, test } from 'vitest';
import { accepts } from './accepts.ts';

test.each([
	['text/html', true],
	['TEXT/HTML', true],
	['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', true],
	['application/json, text/html;level=1;q=0.01', true],
	['text/html;q=0', false],
	['application/json, text/html; q=0.000', false],
	['text/htmlx', false],
	['application/x-text/html', false],
	['text/*', false],
	['*/*', false],
	['', false],
	[undefined, false],
])('accept %j names a page: %s', (accept, expected) => {
	expect(accepts('text/html', { accept })).toBe(expected);
});

test('several `accept` lines count as one', () => {
	expect(accepts('application/json', { accept: ['text/plain', 'application/json'] })).toBe(true);
});

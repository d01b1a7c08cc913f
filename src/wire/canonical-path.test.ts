import { expect, test } from 'vitest';
import { canonicalPath } from './canonical-path.ts';

test.each([
	['/v1/messages', '/v1/messages'],
	['/v1/messages/', '/v1/messages'],
	['//v1//messages//', '/v1/messages'],
	['/v1/v1/messages', '/v1/messages'],
	['/v1/v1/v1/chat/completions/', '/v1/chat/completions'],
	['/v1/', '/v1'],
	['/v1/v1/', '/v1'],
	['/v1/v1', '/v1/v1'],
	['/v1/v10/messages', '/v1/v10/messages'],
	['/v1/models/provider/v1/v1/x', '/v1/models/provider/v1/v1/x'],
	['/', '/'],
	['//', '/'],
	['/other/v1/v1/messages', '/other/v1/v1/messages'],
])('%s is %s', (path, canonical) => {
	expect(canonicalPath(path)).toBe(canonical);
});

test('a long path of slashes takes no time', () => {
	expect(canonicalPath('/'.repeat(100_000))).toBe('/');
	expect(canonicalPath(`${'/v1'.repeat(30_000)}x`)).toBe('/v1/v1x');
});

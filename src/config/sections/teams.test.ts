import { describe, expect, test } from 'vitest';
import { parseConfig } from '../load.ts';
import { ConfigError } from '../problem.ts';

function claimsOf(claims: object): unknown {
	const file = JSON.stringify({ teams: { attributes_from_claims: claims } });
	try {
		return parseConfig(file, { file: null, env: {} }).config.teams.attributes_from_claims;
	} catch (cause) {
		if (cause instanceof ConfigError) return cause.message;
		throw cause;
	}
}

describe('teams.attributes_from_claims', () => {
	test('names claims by attribute', () => {
		const eight = Object.fromEntries(Array.from({ length: 8 }, (_, index) => [`a${index}`, 'https://example.com/claim']));
		expect(claimsOf(eight)).toEqual(eight);
		expect(claimsOf({})).toEqual({});
	});

	test.each([
		[{ Project: 'x' }, 'teams.attributes_from_claims.Project: has a name that must be 1 to 32 characters of a-z 0-9 _'],
		[{ project: '' }, 'teams.attributes_from_claims.project: must not be empty'],
		[{ project: ['x'] }, 'teams.attributes_from_claims.project: '],
		[Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`a${index}`, 'x'])), 'must have at most 8 attributes'],
	])('%j is rejected', (claims, message) => {
		expect(claimsOf(claims)).toContain(message);
	});
});

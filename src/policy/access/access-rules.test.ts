import { describe, expect, test } from 'vitest';
import { type AccessRule, findAccessRule } from './access-rules.ts';
import { readJsonObject } from './json-object.ts';

const issuer = 'https://idp.example';
const rule = (claims: Record<string, readonly string[]>, more: Partial<AccessRule> = {}): AccessRule => ({
	issuer,
	claims: Object.entries(claims).map(([claim, patterns]) => ({ claim, patterns })),
	scopes: [],
	team: null,
	...more,
});
const matches = (claims: Record<string, readonly string[]>, token: object): boolean =>
	findAccessRule([rule(claims)], token as never, issuer) === 0;

describe('a condition', () => {
	test.each([
		['an exact text', { role: ['admin'] }, { role: 'admin' }, true],
		['another case', { role: ['admin'] }, { role: 'Admin' }, false],
		['a part of a text', { role: ['admin'] }, { role: 'not-admin' }, false],
		['a list of scopes in a text', { role: ['admin'] }, { role: 'user admin' }, false],
		['a member of a list', { groups: ['admins'] }, { groups: ['users', 'admins'] }, true],
		['no member of a list', { groups: ['admins'] }, { groups: ['users', 'admins2'] }, false],
		['an empty list', { groups: ['*'] }, { groups: [] }, false],
		['no claim', { groups: ['*'] }, {}, false],
		['one of several patterns', { groups: ['a', 'platform-*'] }, { groups: ['platform-eu'] }, true],
		['several claims', { groups: ['a'], role: ['b'] }, { groups: ['a'], role: 'b' }, true],
		['several claims, one different', { groups: ['a'], role: ['b'] }, { groups: ['a'], role: 'c' }, false],
		['a nested claim', { 'realm_access.roles': ['ops'] }, { realm_access: { roles: ['ops'] } }, true],
		['a claim with dots in its name', { 'https://x.example/roles': ['ops'] }, { 'https://x.example/roles': ['ops'] }, true],
		['the exact name first', { 'a.b': ['yes'] }, { 'a.b': 'no', a: { b: 'yes' } }, false],
		['a number', { level: ['5'] }, { level: 5 }, false],
		['true', { ok: ['true'] }, { ok: true }, false],
		['null', { role: ['*'] }, { role: null }, false],
		['an object', { role: ['*'] }, { role: { admin: true } }, false],
		['a list in a list', { groups: ['admins'] }, { groups: [['admins']] }, false],
		['members of other types', { groups: ['*'] }, { groups: [1, null, {}, true] }, false],
		['an index of a list', { 'groups.0': ['admins'] }, { groups: ['admins'] }, false],
		['an inherited member', { constructor: ['*'] }, {}, false],
		['an inherited nested member', { 'a.constructor.name': ['*'] }, { a: {} }, false],
		['the length of a text', { 'role.length': ['*'] }, { role: 'x' }, false],
	])('on %s: %j against %j is %s', (_, claims, token, expected) => {
		expect(matches(claims, token)).toBe(expected);
	});

	test('is not met by a prototype in the token', () => {
		const token = readJsonObject(Buffer.from('{"__proto__":{"role":"admin"}}')) ?? {};
		expect(matches({ role: ['admin'] }, token)).toBe(false);
	});
});

test('the first rule that matches applies', () => {
	const rules = [rule({ groups: ['a'] }), rule({ groups: ['b'] }), rule({ groups: ['*'] }), rule({})];
	const indexOf = (groups: string[]) => findAccessRule(rules, { groups }, issuer);
	expect([indexOf(['b', 'a']), indexOf(['b']), indexOf(['c']), indexOf([])]).toEqual([0, 1, 2, 3]);
});

test('a rule is for tokens of its issuer only', () => {
	expect(findAccessRule([rule({ role: ['admin'] })], { role: 'admin' }, 'https://idp.example.evil')).toBe(-1);
	expect(findAccessRule([rule({ role: ['admin'] })], { role: 'admin' }, `${issuer}/`)).toBe(-1);
});

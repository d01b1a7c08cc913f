import { describe, expect, test } from 'vitest';
import { type CallerRules, createCallerReader } from './caller-reader.ts';

const first = 'https://first.example';
const partner = 'https://partner.example';
const issuers: CallerRules['issuers'] = [
	{ issuer: first, clientPrefix: '', scopes: null },
	{ issuer: partner, clientPrefix: 'partner:', scopes: ['invoke'] },
];
const read = (claims: object, more: Partial<CallerRules> = {}) =>
	createCallerReader({ scopeBase: 'tollgate', issuers, rules: [], ...more })({ iss: first, exp: 9, sub: 'bot', ...claims }, undefined);
const rejected: unknown = expect.objectContaining({ code: 'token_invalid' });

describe('client ids', () => {
	test('of two issuers differ', () => {
		expect([read({}).clientId, read({ iss: partner }).clientId]).toEqual(['bot', 'partner:bot']);
	});

	test('of the first issuer cannot look like those of another', () => {
		expect(() => read({ sub: 'partner:bot' })).toThrow(rejected);
		expect(() => read({ iss: 'https://unlisted.example', sub: 'partner:bot' })).toThrow(rejected);
	});

	test('are limited with their prefix', () => {
		expect(read({ iss: partner, sub: 'x'.repeat(248) }).clientId).toHaveLength(256);
		expect(() => read({ iss: partner, sub: 'x'.repeat(249) })).toThrow(rejected);
	});
});

test('scopes that an issuer may not grant are ignored', () => {
	const scope = 'tollgate/invoke tollgate/admin other/invoke';
	expect([...read({ scope }).scopes]).toEqual(scope.split(' '));
	expect([...read({ scope, iss: partner }).scopes]).toEqual(['tollgate/invoke']);
});

test('a rule adds scopes, which are known as such, and a team', () => {
	const rules = [{ issuer: partner, claims: [{ claim: 'groups', patterns: ['ops'] }], scopes: ['admin:read'], team: 'red' }];
	const caller = read({ iss: partner, scope: 'tollgate/invoke', groups: ['ops'] }, { rules });
	expect([...caller.scopes]).toEqual(['tollgate/invoke', 'tollgate/admin:read']);
	expect(caller.grant).toEqual({ rule: 0, scopes: new Set(['tollgate/admin:read']), team: 'red' });
	expect(read({ groups: ['ops'] }, { rules }).grant).toBeUndefined();
});

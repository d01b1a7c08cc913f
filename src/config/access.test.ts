import { expect, test } from 'vitest';
import { callerRules } from '../composition/settings.ts';
import { parseConfig } from './load.ts';
import { ConfigError } from './problem.ts';

const parse = (text: string) => parseConfig(text, { file: null, env: {} }).config;

function problemsOf(text: string): string {
	try {
		parse(text);
	} catch (cause) {
		if (cause instanceof ConfigError) return cause.message;
		throw cause;
	}
	return '';
}

const two = 'auth: {issuer: "https://a.example", issuers: [{issuer: "https://b.example"}]}';

test.each([
	['auth: {issuer: "https://a.example", issuers: [{issuer: "https://a.example"}]}', 'auth.issuers[0].issuer: is accepted already'],
	['auth: {issuer: "https://a.example", issuers: [{issuer: "https://a.example/"}]}', 'only in its closing slash'],
	['auth: {issuers: [{issuer: "http://127.0.0.1:8789"}]}', 'auth.issuers[0].issuer: is accepted already'],
	['auth: {issuers: [{issuer: "https://b.example"}, {issuer: "https://b.example"}]}', 'auth.issuers[1].issuer: is accepted already'],
	[
		'auth: {issuers: [{issuer: "https://b.example", client_prefix: "x:"}, {issuer: "https://c.example", client_prefix: "x:y:"}]}',
		'auth.issuers[1].client_prefix: is ambiguous',
	],
	['auth: {issuers: [{issuer: "not an address"}]}', 'auth.issuers[0].issuer: must be an http or https URL'],
	['auth: {issuers: [{issuer: "https://b.example", client_prefix: "a b"}]}', 'auth.issuers[0].client_prefix: must be printable ASCII'],
	['auth: {issuers: [{issuer: "https://b.example", scopes: [root]}]}', 'auth.issuers[0].scopes[0]: must be invoke'],
	['auth: {issuers: [{issuer: "https://b.example", jwks: x}]}', 'auth.issuers[0].jwks'],
	[`${two}\naccess: {rules: [{when: {issuer: "https://bb.example"}, team: red}]}`, 'access.rules[0].when.issuer: Unknown issuer'],
	['access: {rules: [{when: {groups: a}}]}', 'access.rules[0]: has no effect'],
	['access: {rules: [{when: {}, team: red}]}', 'access.rules[0].when: must have a condition'],
	['access: {rules: [{when: {issuer: [a, b]}, team: red}]}', 'access.rules[0].when: must have one issuer'],
	['access: {rules: [{when: {groups: []}, team: red}]}', 'access.rules[0].when.groups'],
	['access: {rules: [{when: {groups: a}, grant: [admin:team]}]}', 'access.rules[0].grant[0]: requires the team of the rule'],
	['access: {rules: [{when: {groups: a}, grant: [root]}]}', 'access.rules[0].grant[0]'],
	['access: {rules: [{when: {groups: a}, team: "Red Team"}]}', 'access.rules[0].team: must be 1 to 64 characters'],
	[
		'access: {rules: [{when: {groups: a, role: b}, team: red}, {when: {role: b, groups: a}, team: blue}]}',
		'access.rules[1].when: never applies: access.rules[0] has the same conditions',
	],
	['identity: {clients: [{id: x, secret: 0123456789abcdef, scopes: [admin:all]}]}', 'identity.clients[0].scopes[0]: must be invoke'],
])('%s: %s', (text, problem) => {
	expect(problemsOf(text)).toContain(problem);
});

test('rules are for the first issuer, unless they name another', () => {
	const { issuers, rules } = callerRules(
		parse(
			`${two}\naccess: {rules: [{when: {groups: [a, b]}, grant: [admin:team, invoke], team: red}, {when: {issuer: "https://b.example", r: x}, grant: [admin]}]}`,
		),
	);
	expect(issuers).toEqual([
		{ issuer: 'https://a.example', clientPrefix: '', scopes: null },
		{ issuer: 'https://b.example', clientPrefix: 'https://b.example#', scopes: null },
	]);
	expect(rules).toEqual([
		{ issuer: 'https://a.example', claims: [{ claim: 'groups', patterns: ['a', 'b'] }], scopes: ['admin:team:red', 'invoke'], team: 'red' },
		{ issuer: 'https://b.example', claims: [{ claim: 'r', patterns: ['x'] }], scopes: ['admin'], team: null },
	]);
});

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { runCommandLine } from '../../test/support/run-command-line.ts';
import { compactToken, makeSigningKey, signWith } from '../../test/support/test-issuer.ts';
import { testAccess } from './test-access.ts';

const directory = mkdtempSync(join(tmpdir(), 'tollgate-access-'));
afterAll(() => rmSync(directory, { recursive: true }));
const configPath = join(directory, 'tollgate.yaml');
writeFileSync(
	configPath,
	`auth: {issuer: "https://a.example", audience: gateway, issuers: [{issuer: "https://b.example", client_prefix: "b:"}]}
access: {rules: [{when: {groups: "ops-*"}, grant: [admin:team, admin:read], team: red}]}`,
);
const key = makeSigningKey('k', 'EdDSA');
const expSeconds = Math.floor(Date.now() / 1000) + 3600;
const tokenOf = (claims: object, header: object = {}) =>
	compactToken(
		{ alg: 'EdDSA', kid: 'k', ...header },
		{ iss: 'https://a.example', aud: 'gateway', sub: 'someone', exp: expSeconds, ...claims },
		signWith(key),
	);

async function run(accessToken: string, flags = '') {
	const file = join(directory, 'token');
	writeFileSync(file, `${accessToken}\n`);
	const outcome = await runCommandLine(`access test --token ${file} --config ${configPath} ${flags}`, {
		testAccess: async (options) => testAccess(options),
	});
	for (const part of accessToken.split('.')) expect(outcome.out + outcome.err).not.toContain(part);
	return outcome;
}

test('shows the rule, the scopes, the team and what is permitted', async () => {
	const { code, out } = await run(tokenOf({ scope: 'tollgate/invoke', groups: ['ops-eu'] }), '--json');
	expect([code, JSON.parse(out)]).toMatchObject([
		0,
		{
			accepted: true,
			signature: 'not_checked',
			client_id: 'someone',
			expired: false,
			rule: 0,
			scopes: ['tollgate/invoke', 'tollgate/admin:team:red', 'tollgate/admin:read'],
			granted_by_rule: ['tollgate/admin:team:red', 'tollgate/admin:read'],
			team: 'red',
			permitted: { inference: true, admin: ['read'], admin_teams: ['red'] },
		},
	]);
});

test('says when no rule matches, and which client id another issuer leads to', async () => {
	const { code, out } = await run(tokenOf({ iss: 'https://b.example', groups: ['ops-eu'] }));
	expect([code, out]).toEqual([
		0,
		expect.stringMatching(/Client id: {2}b:someone\n[^]*Rule: {7}none matches\n[^]*Signature: {2}not checked\n$/),
	]);
});

test('works with an expired token, and says so', async () => {
	const { code, out } = await run(tokenOf({ exp: 1000, groups: 'ops-eu' }));
	expect([code, out]).toEqual([0, expect.stringContaining('1970-01-01T00:16:40.000Z (expired: the result is that of a valid token)')]);
	expect(out).toContain('access.rules[0] grants');
});

test.each([
	[{ iss: 'https://c.example\u001b[31m' }, {}, 'is neither auth.issuer nor in auth.issuers'],
	[{ aud: 'other' }, {}, 'aud is another audience'],
	[{ token_use: 'id' }, {}, 'token_use is not access'],
	[{ exp: 'never' }, {}, 'exp is not a time'],
	[{ sub: 'b:someone' }, {}, 'client id begins with the prefix of another issuer'],
	[{}, { typ: 'id+jwt' }, 'header typ is not that of an access token'],
])('rejects a token with %j and header %j: %s', async (claims, header, reason) => {
	const { code, out } = await run(tokenOf(claims, header));
	expect([code, out]).toEqual([2, expect.stringContaining(reason)]);
	expect(out).not.toContain('\u001b');
});

test('a text that is no token is rejected without being printed; an unreadable file is an error', async () => {
	expect(await run('secret-text')).toMatchObject({ code: 2 });
	writeFileSync(join(directory, 'empty'), ' \n');
	expect(await runCommandLine(`access test --token ${directory}/empty`)).toMatchObject({ code: 1 });
	expect(await runCommandLine(`access test --token ${directory}/absent`)).toMatchObject({ code: 1 });
	expect(await runCommandLine('access test')).toMatchObject({ code: 1 });
});

import { describe, expect, test } from 'vitest';
import { compactToken } from '../../../test/support/test-issuer.ts';
import { type ClaimRules, judgeClaims, readUnverifiedCaller } from './claims.ts';
import { requireScope } from './require-scope.ts';
import { readBearer } from './token-headers.ts';

const rules: ClaimRules = { issuer: 'https://issuer.example', audience: null, clockSkewSeconds: 5, maxLifetimeSeconds: null };
const now = 1_800_000_000;
const goodClaims = { iss: rules.issuer, sub: 'subject', client_id: 'agent', scope: 'a b', iat: now, nbf: now, exp: now + 60 };

type Claims = Readonly<Record<string, unknown>>;
const judge = (changes: Claims, changedRules: Partial<ClaimRules> = {}, nowSeconds = now) =>
	judgeClaims(Buffer.from(JSON.stringify({ ...goodClaims, ...changes })), { ...rules, ...changedRules }, nowSeconds);
const refused: unknown = expect.objectContaining({ code: 'token_invalid' });

describe('contract section 3: the client is read from client_id, else azp, else appid, else sub', () => {
	test.each<[Claims, string]>([
		[{ client_id: 'a', azp: 'b', appid: 'c', sub: 'd' }, 'a'],
		[{ client_id: undefined, azp: 'b', appid: 'c', sub: 'd' }, 'b'],
		[{ client_id: undefined, appid: 'c', sub: 'd' }, 'c'],
		[{ client_id: undefined, sub: 'd' }, 'd'],
	])('%j: %s', (claims, clientId) => {
		expect(judge(claims).clientId).toBe(clientId);
	});

	test.each([null, '', 7, ['agent'], 'x'.repeat(257), 'a\u0000b', 'é'])('a client_id that is %j is not passed over', (clientId) => {
		expect(() => judge({ client_id: clientId })).toThrow(refused);
	});
});

describe('contract section 3: scopes come from scope, a text or an array, or from scp', () => {
	test.each<[Claims, string[]]>([
		[{ scope: 'a b' }, ['a', 'b']],
		[{ scope: ['a', 'b c', 7] }, ['a', 'b c']],
		[{ scope: undefined, scp: 'a b' }, ['a', 'b']],
		[{ scope: undefined, scp: ['a'] }, ['a']],
		[{ scope: 'a', scp: 'b' }, ['a']],
		[{ scope: 'a\tb\u00a0c' }, ['a\tb\u00a0c']],
		[{ scope: 7 }, []],
		[{ scope: undefined }, []],
	])('%j: %j', (claims, scopes) => {
		expect([...judge(claims).scopes]).toEqual(scopes);
	});

	test('a scope is held letter for letter', () => {
		const caller = judge({ scope: 'base/invoke' });
		expect(requireScope(caller, 'base/invoke')).toBe(caller);
		expect(() => requireScope(caller, 'base/Invoke')).toThrow(expect.objectContaining({ code: 'scope_missing' }));
	});
});

describe('times', () => {
	test('the skew is forgiven up to, not at, its end', () => {
		expect(judge({}, {}, now + 60 + 4.999).clientId).toBe('agent');
		expect(() => judge({}, {}, now + 60 + 5)).toThrow(refused);
		expect(judge({ nbf: now + 5, iat: now + 5 }).clientId).toBe('agent');
		expect(() => judge({ nbf: now + 5.001 })).toThrow(refused);
		expect(() => judge({ iat: now + 5.001 })).toThrow(refused);
	});

	test('nbf and iat may be missing, but not be something else', () => {
		expect(judge({ nbf: undefined, iat: undefined }).clientId).toBe('agent');
		for (const time of [null, '1', -1, [1]]) {
			expect(() => judge({ nbf: time })).toThrow(refused);
			expect(() => judge({ iat: time })).toThrow(refused);
		}
	});

	test('without iat the lifetime counts from now', () => {
		expect(judge({ iat: undefined }, { maxLifetimeSeconds: 60 }).clientId).toBe('agent');
		expect(() => judge({ iat: undefined, exp: now + 61 }, { maxLifetimeSeconds: 60 })).toThrow(refused);
	});
});

test.each<[unknown, boolean]>([
	['api', true],
	[['other', 'api'], true],
	['API', false],
	[['other'], false],
	[undefined, false],
	[{ api: true }, false],
])('audience %j, configured as api: %s', (aud, isAccepted) => {
	if (isAccepted) expect(judge({ aud }, { audience: 'api' }).clientId).toBe('agent');
	else expect(() => judge({ aud }, { audience: 'api' })).toThrow(refused);
});

describe('the bearer of a header', () => {
	test.each([
		['Bearer abc', 'abc'],
		['bearer abc', 'abc'],
		['BEARER  abc', ' abc'],
	])('%j: %j', (header, accessToken) => {
		expect(readBearer(header)).toBe(accessToken);
	});

	test.each([undefined, '', 'Bearer', 'Bearer ', 'Bearerabc', 'Basic abc', 'DPoP abc', 'Bearer\tabc', ' Bearer abc'])(
		'%j is none',
		(header) => {
			expect(() => readBearer(header)).toThrow(expect.objectContaining({ code: 'token_missing' }));
		},
	);

	test('two headers are refused', () => {
		expect(() => readBearer(['Bearer a', 'Bearer a'])).toThrow(refused);
	});
});

describe('gateway.trust_edge: read without verification, not without care', () => {
	const unsigned = (claims: Claims, header: Claims = { alg: 'RS256', kid: 'k' }): string =>
		compactToken(header, { ...goodClaims, ...claims }, () => Buffer.from('abc'));

	test('the caller is who the claims say', () => {
		expect(readUnverifiedCaller(unsigned({ exp: 1 }))).toEqual({
			clientId: 'agent',
			issuer: rules.issuer,
			scopes: new Set(['a', 'b']),
			expiresAtSeconds: 1,
		});
	});

	test.each<[string, Claims]>([
		['without kid', { alg: 'RS256', typ: 'JWT' }],
		['with members that our own edge refuses', { alg: 'RS256', kid: 'k', typ: 'JWT', x5t: 'thumbprint' }],
	])('a header %s is what the balancer accepted', (_title, header) => {
		expect(readUnverifiedCaller(unsigned({}, header)).clientId).toBe('agent');
	});

	test.each<[string, string]>([
		['no client', unsigned({ client_id: undefined, sub: undefined })],
		['an ID token', unsigned({ token_use: 'id' })],
		['typ id+jwt', unsigned({}, { alg: 'RS256', kid: 'k', typ: 'id+jwt' })],
		['a repeated claim', compactToken({ alg: 'RS256', kid: 'k' }, '{"exp":1,"exp":2}', () => Buffer.from('abc'))],
		['no signature', `${unsigned({}).split('.').slice(0, 2).join('.')}.`],
		['no token', 'abc'],
		['too long a token', unsigned({ pad: 'x'.repeat(8192) })],
	])('%s is refused', (_title, accessToken) => {
		expect(() => readUnverifiedCaller(accessToken)).toThrow(refused);
	});
});

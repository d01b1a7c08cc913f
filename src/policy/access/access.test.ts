import { describe, expect, test } from 'vitest';
import { compactToken } from '../../../test/support/test-issuer.ts';
import { type ClaimRules, checkClaims, readUnverifiedCaller } from './claims.ts';
import { maxAccessTokenLength, readCompactToken } from './compact-token.ts';
import { requireScope } from './require-scope.ts';
import { readAccessToken, readBearer } from './token-headers.ts';

const rules: ClaimRules = { issuer: 'https://issuer.example', audience: null, clockSkewSeconds: 5, maxLifetimeSeconds: null };
const now = 1_800_000_000;
const goodClaims = { iss: rules.issuer, sub: 'subject', client_id: 'agent', scope: 'a b', iat: now, nbf: now, exp: now + 60 };

type Claims = Readonly<Record<string, unknown>>;
const check = (changes: Claims, changedRules: Partial<ClaimRules> = {}, nowSeconds = now) =>
	checkClaims(Buffer.from(JSON.stringify({ ...goodClaims, ...changes })), { ...rules, ...changedRules }, nowSeconds);
const rejected: unknown = expect.objectContaining({ code: 'token_invalid' });

describe('the client is read from client_id, else azp, else appid, else sub', () => {
	test.each<[Claims, string]>([
		[{ client_id: 'a', azp: 'b', appid: 'c', sub: 'd' }, 'a'],
		[{ client_id: undefined, azp: 'b', appid: 'c', sub: 'd' }, 'b'],
		[{ client_id: undefined, appid: 'c', sub: 'd' }, 'c'],
		[{ client_id: undefined, sub: 'd' }, 'd'],
	])('%j: %s', (claims, clientId) => {
		expect(check(claims).clientId).toBe(clientId);
	});

	test.each([null, '', 7, ['agent'], 'x'.repeat(257), 'a\u0000b', 'é'])('a client_id that is %j is not passed over', (clientId) => {
		expect(() => check({ client_id: clientId })).toThrow(rejected);
	});
});

describe('scopes come from scope, a text or an array, or from scp', () => {
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
		expect([...check(claims).scopes]).toEqual(scopes);
	});

	test('a scope must match exactly', () => {
		const caller = check({ scope: 'base/invoke' });
		expect(requireScope(caller, 'base/invoke')).toBe(caller);
		expect(() => requireScope(caller, 'base/Invoke')).toThrow(
			expect.objectContaining({ code: 'scope_missing', message: expect.stringContaining('the scope `base/Invoke`') as string }),
		);
	});
});

describe('times', () => {
	test('the skew is forgiven up to, not at, its end', () => {
		expect(check({}, {}, now + 60 + 4.999).clientId).toBe('agent');
		expect(() => check({}, {}, now + 60 + 5)).toThrow(rejected);
		expect(check({ nbf: now + 5, iat: now + 5 }).clientId).toBe('agent');
		expect(() => check({ nbf: now + 5.001 })).toThrow(rejected);
		expect(() => check({ iat: now + 5.001 })).toThrow(rejected);
	});

	test('nbf and iat may be missing, but not be something else', () => {
		expect(check({ nbf: undefined, iat: undefined }).clientId).toBe('agent');
		for (const time of [null, '1', -1, [1]]) {
			expect(() => check({ nbf: time })).toThrow(rejected);
			expect(() => check({ iat: time })).toThrow(rejected);
		}
	});

	test('the lifetime counts from iat, which does not lie after exp', () => {
		const lifetime = { maxLifetimeSeconds: 60 };
		expect(check({ iat: now - 1, exp: now + 59 }, lifetime).clientId).toBe('agent');
		expect(() => check({ iat: now - 1, exp: now + 60 }, lifetime)).toThrow(rejected);
		expect(check({ iat: now, exp: now }).clientId, 'within the skew').toBe('agent');
		expect(() => check({ iat: now + 1, exp: now })).toThrow(rejected);
	});

	test('without iat the lifetime counts from now', () => {
		expect(check({ iat: undefined }, { maxLifetimeSeconds: 60 }).clientId).toBe('agent');
		expect(() => check({ iat: undefined, exp: now + 61 }, { maxLifetimeSeconds: 60 })).toThrow(rejected);
	});
});

describe('claims that every access token has', () => {
	test.each<Claims>([
		{ iss: undefined },
		{ iss: '' },
		{ iss: 7 },
		{ iss: 'https://other.example' },
		{ exp: undefined },
		{ exp: '1' },
		{ exp: 0 },
		{ exp: -1 },
		{ token_use: 'id' },
		{ token_use: null },
	])('%j is rejected', (claims) => {
		expect(() => check(claims)).toThrow(rejected);
	});

	test('the longest client id has 256 characters, and the shortest one', () => {
		for (const clientId of ['x', 'x'.repeat(256), '~ ~']) expect(check({ client_id: clientId }).clientId).toBe(clientId);
	});

	test('token_use may say that it is one', () => {
		expect(check({ token_use: 'access' })).toEqual({
			clientId: 'agent',
			issuer: rules.issuer,
			scopes: new Set(['a', 'b']),
			expiresAtSeconds: now + 60,
		});
	});

	test('anything other than a JSON object has none', () => {
		expect(() => checkClaims(Buffer.from('[]'), rules, now)).toThrow(rejected);
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
	if (isAccepted) expect(check({ aud }, { audience: 'api' }).clientId).toBe('agent');
	else expect(() => check({ aud }, { audience: 'api' })).toThrow(rejected);
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

	test('two headers are rejected', () => {
		expect(() => readBearer(['Bearer a', 'Bearer a'])).toThrow(rejected);
	});
});

describe('the access token of a request', () => {
	const all = ['authorization', 'x-api-key', 'api-key'] as const;

	test.each<[Readonly<Record<string, string>>, string]>([
		[{ authorization: 'Bearer a', 'x-api-key': 'b' }, 'a'],
		[{ 'x-api-key': 'b' }, 'b'],
		[{ 'api-key': 'b' }, 'b'],
		[{ 'x-api-key': '', 'api-key': 'b' }, 'b'],
		[{ 'x-api-key': 'b', 'api-key': 'b' }, 'b'],
		[{ 'api-key': 'b', 'x-goog-api-key': 'c' }, 'b'],
	])('of %j is %s', (headers, accessToken) => {
		expect(readAccessToken(headers, all)).toBe(accessToken);
	});

	test.each<[Readonly<Record<string, string | string[]>>, string]>([
		[{}, 'token_missing'],
		[{ 'x-api-key': '' }, 'token_missing'],
		[{ 'x-goog-api-key': 'c' }, 'token_missing'],
		[{ authorization: '', 'x-api-key': 'b' }, 'token_missing'],
		[{ 'x-api-key': 'b', 'api-key': 'c' }, 'token_invalid'],
		[{ 'x-api-key': ['b', 'b'] }, 'token_invalid'],
	])('of %j is rejected: %s', (headers, code) => {
		expect(() => readAccessToken(headers, all)).toThrow(expect.objectContaining({ code }));
	});
});

describe('a token in its compact form', () => {
	const sign = () => Buffer.from('abc');
	const of = (header: unknown) => readCompactToken(compactToken(header as Claims, goodClaims, sign));

	test('is parsed together with its signed text', () => {
		const accessToken = compactToken({ alg: 'RS256', kid: 'k', typ: 'at+JWT' }, goodClaims, sign);
		const token = readCompactToken(accessToken);
		expect(token).toMatchObject({ algorithm: 'RS256', keyId: 'k', signedText: accessToken.slice(0, accessToken.lastIndexOf('.')) });
		expect([JSON.parse(token.payload.toString()), token.signature.toString()]).toEqual([goodClaims, 'abc']);
	});

	test('has a key id of at most 256 characters', () => {
		expect(of({ alg: 'RS256', kid: 'k'.repeat(256) }).keyId).toHaveLength(256);
	});

	test.each<unknown>([
		{ kid: 'k' },
		{ alg: 1, kid: 'k' },
		{ alg: 'RS256' },
		{ alg: 'RS256', kid: '' },
		{ alg: 'RS256', kid: 1 },
		{ alg: 'RS256', kid: 'k'.repeat(257) },
		{ alg: 'RS256', kid: 'k', typ: 1 },
		{ alg: 'RS256', kid: 'k', typ: 'id+jwt' },
		{ alg: 'RS256', kid: 'k', crit: [] },
		[],
	])('whose header is %j is rejected', (header) => {
		expect(() => of(header)).toThrow(rejected);
	});

	test('is at most 8192 characters long', () => {
		const shortest = compactToken({ alg: 'RS256', kid: 'k' }, '', sign);
		const fill = maxAccessTokenLength - shortest.length;
		const [head = '', , signature = ''] = shortest.split('.');
		const ofLength = (length: number) => [head, 'A'.repeat(length), signature].join('.');
		expect(readCompactToken(ofLength(fill)).keyId).toBe('k');
		expect(() => readCompactToken(ofLength(fill + 4))).toThrow(rejected);
	});
});

describe('gateway.trust_edge: read without verification, not without care', () => {
	const unsigned = (claims: Claims, header: Claims = { alg: 'RS256', kid: 'k' }): string =>
		compactToken(header, { ...goodClaims, ...claims }, () => Buffer.from('abc'));

	test('the claims name the caller', () => {
		expect(readUnverifiedCaller(unsigned({ exp: 1 }))).toEqual({
			clientId: 'agent',
			issuer: rules.issuer,
			scopes: new Set(['a', 'b']),
			expiresAtSeconds: 1,
		});
	});

	test.each<[string, Claims]>([
		['without kid', { alg: 'RS256', typ: 'JWT' }],
		['with members that Tollgate’s edge rejects', { alg: 'RS256', kid: 'k', typ: 'JWT', x5t: 'thumbprint' }],
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
	])('%s is rejected', (_title, accessToken) => {
		expect(() => readUnverifiedCaller(accessToken)).toThrow(rejected);
	});
});

describe('attributes from claims', () => {
	const attributesFromClaims = { project: 'project_id', cost_center: 'https://example.com/cost', flag: 'flag' };
	const attributesOf = (claims: Claims) => check(claims, { attributesFromClaims }).attributes;

	test('are texts, numbers and booleans of the named claims', () => {
		expect(attributesOf({ project_id: 'search', 'https://example.com/cost': 4711, flag: true, other: 'x' })).toEqual({
			project: 'search',
			cost_center: '4711',
			flag: 'true',
		});
	});

	test('are none for claims that are missing or no valid value, and the token stays valid', () => {
		const invalid = [undefined, null, '', 'two words', 'é', 'x'.repeat(129), 'a\nb', ['search'], { id: 'search' }];
		for (const value of invalid) expect(attributesOf({ project_id: value, flag: 'x' })).toEqual({ flag: 'x' });
		expect(attributesOf({ project_id: 'x'.repeat(128) })).toEqual({ project: 'x'.repeat(128) });
		expect(attributesOf({})).toBeUndefined();
		expect(check({ project_id: 'search' }).attributes).toBeUndefined();
		expect(check({}, { attributesFromClaims: { project: 'toString', constructor: 'constructor' } }).attributes).toBeUndefined();
	});

	test('are read from the token that a balancer verified', () => {
		const accessToken = ['{"alg":"RS256"}', JSON.stringify({ ...goodClaims, project_id: 'search' }), 'signature'].map((part) =>
			Buffer.from(part).toString('base64url'),
		);
		expect(readUnverifiedCaller(accessToken.join('.'), attributesFromClaims).attributes).toEqual({ project: 'search' });
	});
});

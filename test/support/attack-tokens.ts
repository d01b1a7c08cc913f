/**
 * Access tokens that must be rejected, and a few that must be accepted (A1 to A64). They are independent of the verifier: run them against
 * a layer or over HTTP.
 */
import { constants, generateKeyPairSync, sign } from 'node:crypto';
import { compactToken, encodePart, type Jwk, makeSigningKey, type Sign, signHmac, signWith, type TestIssuer } from './test-issuer.ts';

export interface AttackToken {
	/** Number in the list of attacks. */
	readonly id: string;
	readonly title: string;
	makeToken(issuer: TestIssuer): string;
	readonly expect: 200 | 401 | 403;
	/** Statuses over HTTP, if the request may be rejected before the token is verified. */
	readonly expectOverHttp?: readonly number[];
	/** Value or values of `authorization`, if not `Bearer` and the token. */
	readonly authorization?: (accessToken: string) => string | string[] | undefined;
	readonly query?: (accessToken: string) => string;
	/** Settings that the expectation requires; none by default. */
	readonly needs?: 'audience' | 'max_lifetime' | 'reject_unregistered';
}

/** Seconds of clock skew that the list assumes. */
export const attackSkewSeconds = 5;
/** Value for the attacks that need `max_lifetime`. */
export const attackMaxLifetimeSeconds = 7200;

const strangerKey = makeSigningKey('stranger');
const ecKey = makeSigningKey('attack-ec', 'ES256');
const edKey = makeSigningKey('attack-ed', 'EdDSA');
const encryptionKey = makeSigningKey('attack-enc');
const otherAlgorithmKey = makeSigningKey('attack-alg');
const shortKey = { ...makeSigningKey('attack-short'), ...generateKeyPairSync('rsa', { modulusLength: 1024 }) };
const symmetricSecret = Buffer.from('a secret that was published as a key, long enough for HS256');

/** Keys to publish next to the issuer's own: two valid ones, and four that must never verify a token. */
export const attackKeys: readonly Jwk[] = [
	ecKey.jwk,
	edKey.jwk,
	{ ...encryptionKey.jwk, use: 'enc' },
	{ ...otherAlgorithmKey.jwk, alg: 'RS512' },
	{ ...shortKey.publicKey.export({ format: 'jwk' }), kid: shortKey.keyId, alg: 'RS256', use: 'sig' },
	{ kty: 'oct', kid: 'attack-oct', alg: 'HS256', use: 'sig', k: symmetricSecret.toString('base64url') },
];

const good: AttackToken['makeToken'] = (issuer) => issuer.accessToken();
const noSignature: Sign = () => Buffer.alloc(0);

type Changes = Readonly<Record<string, unknown>>;

function withHeader(id: string, title: string, header: (issuer: TestIssuer) => Changes, by?: (issuer: TestIssuer) => Sign): AttackToken {
	const makeToken = (issuer: TestIssuer): string =>
		compactToken(issuer.header(header(issuer)), issuer.claims(), by === undefined ? signWith(issuer.key) : by(issuer));
	return { id, title, makeToken, expect: 401 };
}

function withClaims(
	id: string,
	title: string,
	claims: (issuer: TestIssuer) => Changes,
	expect: AttackToken['expect'] = 401,
	needs?: AttackToken['needs'],
): AttackToken {
	return { id, title, makeToken: (issuer) => issuer.accessToken(claims(issuer)), expect, ...(needs === undefined ? {} : { needs }) };
}

/** Token with a valid signature over claims edited as text. */
function withPayload(
	id: string,
	title: string,
	change: (json: string, issuer: TestIssuer) => string | Buffer,
	expect: AttackToken['expect'] = 401,
): AttackToken {
	const makeToken = (issuer: TestIssuer): string =>
		compactToken(issuer.header(), change(JSON.stringify(issuer.claims()), issuer), signWith(issuer.key));
	return { id, title, makeToken, expect };
}

function respelled(id: string, title: string, change: (accessToken: string, issuer: TestIssuer) => string): AttackToken {
	return { id, title, makeToken: (issuer) => change(issuer.accessToken(), issuer), expect: 401 };
}

const pem = (issuer: TestIssuer): string => issuer.key.publicKey.export({ type: 'spki', format: 'pem' });
const der = (issuer: TestIssuer): Buffer => issuer.key.publicKey.export({ type: 'spki', format: 'der' });
const modulus = (issuer: TestIssuer): Buffer => Buffer.from(String(issuer.key.jwk['n']), 'base64url');

const algorithmAttacks: AttackToken[] = [
	withHeader(
		'A1',
		'alg none',
		() => ({ alg: 'none' }),
		() => noSignature,
	),
	...['None', 'NONE', 'nOnE'].map((alg) =>
		withHeader(
			'A2',
			`alg ${alg}`,
			() => ({ alg }),
			() => noSignature,
		),
	),
	withHeader('A2', 'alg none over a good signature', () => ({ alg: 'none' })),
	respelled(
		'A3',
		'alg none without the last dot',
		(_, issuer) => `${encodePart(issuer.header({ alg: 'none' }))}.${encodePart(issuer.claims())}`,
	),
	withHeader(
		'A4',
		'HS256 keyed with the public PEM',
		() => ({ alg: 'HS256' }),
		(issuer) => signHmac('sha256', pem(issuer)),
	),
	withHeader(
		'A4',
		'HS256 keyed with the public PEM, no final newline',
		() => ({ alg: 'HS256' }),
		(issuer) => signHmac('sha256', pem(issuer).trim()),
	),
	withHeader(
		'A5',
		'HS256 keyed with the public DER',
		() => ({ alg: 'HS256' }),
		(issuer) => signHmac('sha256', der(issuer)),
	),
	withHeader(
		'A6',
		'HS256 keyed with the modulus',
		() => ({ alg: 'HS256' }),
		(issuer) => signHmac('sha256', modulus(issuer)),
	),
	withHeader(
		'A7',
		'HS384 keyed with the public PEM',
		() => ({ alg: 'HS384' }),
		(issuer) => signHmac('sha384', pem(issuer)),
	),
	withHeader(
		'A7',
		'HS512 keyed with the public PEM',
		() => ({ alg: 'HS512' }),
		(issuer) => signHmac('sha512', pem(issuer)),
	),
	withHeader(
		'A8',
		'PS256 with the same RSA key',
		() => ({ alg: 'PS256' }),
		({ key }) =>
			(signed) =>
				sign('sha256', signed, { key: key.privateKey, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 }),
	),
	withHeader(
		'A8',
		'RS256 announced, PSS signature',
		() => ({}),
		({ key }) =>
			(signed) =>
				sign('sha256', signed, { key: key.privateKey, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 }),
	),
	withHeader(
		'A9',
		'ES256 with a signature of zeros',
		() => ({ alg: 'ES256', kid: ecKey.keyId }),
		() => () => Buffer.alloc(64),
	),
	withHeader(
		'A9',
		'ES256 with a DER signature',
		() => ({ alg: 'ES256', kid: ecKey.keyId }),
		() => (signed) => sign('sha256', signed, ecKey.privateKey),
	),
	respelled('A10', 'RS256 without signature', (accessToken) => accessToken.slice(0, accessToken.lastIndexOf('.') + 1)),
	withHeader('A11', 'alg missing', () => ({ alg: undefined })),
	withHeader('A12', 'alg in an array', () => ({ alg: ['RS256'] })),
	...['{"alg":"RS256","alg":"none",', '{"alg":"none","alg":"RS256",', '{"alg":"RS256","\\u0061lg":"RS256",'].map((start): AttackToken => {
		const makeToken = (issuer: TestIssuer): string =>
			compactToken(`${start}"kid":${JSON.stringify(issuer.key.keyId)}}`, issuer.claims(), signWith(issuer.key));
		return { id: 'A13', title: `two alg members: ${start}`, makeToken, expect: 401 };
	}),
];

const byStranger = (): Sign => signWith(strangerKey);

const keyAttacks: AttackToken[] = [
	withHeader('A14', 'unknown kid', () => ({ kid: strangerKey.keyId }), byStranger),
	withHeader('A14', 'the issuer’s kid, signed by a stranger', () => ({}), byStranger),
	withHeader(
		'A15',
		'kid is a path',
		() => ({ kid: '../../../../dev/null' }),
		() => signHmac('sha256', ''),
	),
	withHeader('A16', 'kid carries SQL', () => ({ kid: "x' UNION SELECT 'k'--" }), byStranger),
	withHeader('A17', 'kid with a NUL', ({ key }) => ({ kid: `${key.keyId}\0` })),
	withHeader('A18', 'kid is a number', () => ({ kid: 1 })),
	withHeader('A18', 'kid is an object', ({ key }) => ({ kid: { toString: key.keyId } })),
	{ ...withHeader('A19', 'kid of 10 KB', () => ({ kid: 'k'.repeat(10_240) })), expectOverHttp: [401, 431] },
	withHeader('A20', 'kid is __proto__', () => ({ kid: '__proto__' })),
	withHeader('A20', 'kid is constructor', () => ({ kid: 'constructor' })),
	withHeader('A21', 'no kid though the set has several keys', () => ({ kid: undefined })),
	withHeader('A22', 'key embedded as jwk', () => ({ jwk: strangerKey.jwk }), byStranger),
	withHeader('A23', 'key set address in jku', ({ attackerUrl }) => ({ jku: attackerUrl }), byStranger),
	withHeader('A24', 'certificate address in x5u', ({ attackerUrl }) => ({ x5u: attackerUrl }), byStranger),
	withHeader(
		'A25',
		'key in x5c',
		() => ({ x5c: [strangerKey.publicKey.export({ type: 'spki', format: 'der' }).toString('base64')] }),
		byStranger,
	),
	withHeader(
		'A26',
		'key for encryption',
		() => ({ kid: encryptionKey.keyId }),
		() => signWith(encryptionKey),
	),
	withHeader(
		'A27',
		'key for another algorithm',
		() => ({ kid: otherAlgorithmKey.keyId }),
		() => signWith(otherAlgorithmKey),
	),
	withHeader(
		'A28',
		'symmetric key of the key set',
		() => ({ kid: 'attack-oct', alg: 'HS256' }),
		() => signHmac('sha256', symmetricSecret),
	),
	withHeader(
		'A29',
		'RSA key of 1,024 bits',
		() => ({ kid: shortKey.keyId }),
		() => signWith(shortKey),
	),
];

const headerAttacks: AttackToken[] = [
	withHeader('A30', 'crit with an unknown name', () => ({ crit: ['x'], x: 1 })),
	withHeader('A31', 'empty crit', () => ({ crit: [] })),
	withHeader('A32', 'b64 false', () => ({ b64: false, crit: ['b64'] })),
	withHeader('A33', 'zip', () => ({ zip: 'DEF' })),
	withHeader('A34', 'cty JWT around a nested token', () => ({ cty: 'JWT' })),
	withHeader('A35', 'typ id+jwt', () => ({ typ: 'id+jwt' })),
	withHeader('A35', 'typ of another kind of token', () => ({ typ: 'logout+jwt' })),
	respelled(
		'A36',
		'encrypted: five parts',
		(accessToken) => `${encodePart({ alg: 'RSA-OAEP', enc: 'A256GCM' })}.AAAA.AAAA.${accessToken.split('.')[1]}.AAAA`,
	),
	respelled('A37', 'JSON serialisation', (accessToken) => {
		const [head, payload, signature] = accessToken.split('.');
		return JSON.stringify({ protected: head, payload, signature });
	}),
	...['"RS256"', '[]', 'null', '["RS256"]', '1'].map((head): AttackToken => {
		const makeToken = (issuer: TestIssuer): string => compactToken(head, issuer.claims(), signWith(issuer.key));
		return { id: 'A38', title: `header is ${head}`, makeToken, expect: 401 };
	}),
];

const skew = attackSkewSeconds;

const timeAttacks: AttackToken[] = [
	withClaims('A39', 'expired by the skew and a second', (issuer) => ({
		iat: issuer.nowSeconds() - 60,
		exp: issuer.nowSeconds() - skew - 1,
	})),
	withClaims(
		'A40',
		'expired by less than the skew',
		(issuer) => ({ iat: issuer.nowSeconds() - 60, exp: issuer.nowSeconds() - skew + 3 }),
		200,
	),
	withClaims('A41', 'nbf ahead', (issuer) => ({ nbf: issuer.nowSeconds() + skew + 5 })),
	withClaims('A41', 'nbf is a text', (issuer) => ({ nbf: String(issuer.nowSeconds()) })),
	withClaims('A42', 'iat ahead', (issuer) => ({ iat: issuer.nowSeconds() + skew + 5 })),
	withClaims('A42', 'iat a day ahead', (issuer) => ({ iat: issuer.nowSeconds() + 86_400, exp: issuer.nowSeconds() + 90_000 })),
	withClaims('A43', 'exp missing', () => ({ exp: undefined })),
	withClaims('A44', 'exp is a text', (issuer) => ({ exp: String(issuer.nowSeconds() + 3600) })),
	withPayload('A45', 'exp 1e400', (json) => json.replace(/"exp":\d+/, '"exp":1e400')),
	withClaims('A46', 'exp negative', () => ({ exp: -1 })),
	withClaims('A46', 'exp 0', () => ({ exp: 0 })),
	withClaims('A47', 'exp before iat', (issuer) => ({ iat: issuer.nowSeconds() + skew - 1, exp: issuer.nowSeconds() + skew - 2 })),
	withClaims(
		'A48',
		'lifetime over the configured maximum',
		(issuer) => ({ exp: issuer.nowSeconds() + attackMaxLifetimeSeconds + 60 }),
		401,
		'max_lifetime',
	),
];

const issuerAttacks: AttackToken[] = [
	withClaims('A49', 'another issuer', () => ({ iss: 'https://issuer.example' })),
	withClaims('A49', 'no issuer', () => ({ iss: undefined })),
	withClaims('A50', 'issuer with a closing slash', ({ issuer }) => ({ iss: `${issuer}/` })),
	withClaims('A51', 'issuer in another case', ({ issuer }) => ({ iss: issuer.toUpperCase() })),
	withClaims('A52', 'issuer in an array', ({ issuer }) => ({ iss: [issuer] })),
	withClaims('A53', 'another audience', () => ({ aud: 'somebody-else' }), 401, 'audience'),
	withClaims('A53', 'no audience', () => ({ aud: undefined }), 401, 'audience'),
	withClaims('A54', 'token_use id', () => ({ token_use: 'id' })),
	withClaims('A55', 'no claim names a client', () => ({ client_id: undefined, sub: undefined })),
	withClaims('A55', 'client_id empty', () => ({ client_id: '' })),
	withClaims('A55', 'client_id is a number', () => ({ client_id: 7 })),
	withClaims('A55', 'client_id with a line break', () => ({ client_id: 'agent\nx' })),
	withClaims('A56', 'client of no team', () => ({ client_id: 'nobody-knows', sub: 'nobody-knows' }), 403, 'reject_unregistered'),
];

const scopeAttacks: AttackToken[] = [
	...[
		(base: string) => `${base}/invoke2`,
		(base: string) => `x${base}/invoke`,
		(base: string) => `${base}/invoke/admin`,
		(base: string) => `${base.toUpperCase()}/invoke`,
	].map((scope) => withClaims('A57', `scope ${scope('<base>')}`, (issuer) => ({ scope: scope(issuer.scopeBase) }), 403)),
	...(['\t', '\n', '\u00a0', ','] as const).map((separator) =>
		withClaims(
			'A58',
			`scopes separated by ${JSON.stringify(separator)}`,
			(issuer) => ({ scope: `a${separator}${issuer.scopeBase}/invoke` }),
			403,
		),
	),
	withClaims(
		'A59',
		'scope is an array without the member',
		(issuer) => ({ scope: [`a ${issuer.scopeBase}/invoke`, [`${issuer.scopeBase}/invoke`]] }),
		403,
	),
	withClaims('A59', 'scope is an array with the member', (issuer) => ({ scope: ['a', `${issuer.scopeBase}/invoke`] }), 200),
	withClaims('A59', 'scope is an object', (issuer) => ({ scope: { [`${issuer.scopeBase}/invoke`]: true } }), 403),
	withClaims('A60', 'admin scope on inference', (issuer) => ({ scope: `${issuer.scopeBase}/admin` }), 403),
	withClaims('A61', 'empty scope', () => ({ scope: '' }), 403),
	withClaims('A61', 'no scope', () => ({ scope: undefined }), 403),
	withClaims('A61', '2,500 scopes without the member', () => ({ scope: 'a '.repeat(2500) }), 403),
	withClaims('A61', '2,500 scopes with the member last', (issuer) => ({ scope: `${'a '.repeat(2500)}${issuer.scopeBase}/invoke` }), 200),
	{ ...withClaims('A61', '10,000 scopes are more than a token holds', () => ({ scope: 'a '.repeat(10_000) })), expectOverHttp: [401, 431] },
];

const last = (text: string): string => text.slice(-1);
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const nextLetter = (letter: string): string => alphabet[(alphabet.indexOf(letter) + 1) % 64] ?? 'A';

/** Returns the longest token up to this number of characters, or the shortest one above it. */
function tokenOfLength(issuer: TestIssuer, length: number, isLonger: boolean): string {
	const bare = issuer.accessToken({ pad: '' }).length;
	const guess = Math.floor(((length - bare) * 3) / 4);
	const candidates = Array.from({ length: 9 }, (_, step) => issuer.accessToken({ pad: 'x'.repeat(guess - 4 + step) }));
	const fitting = candidates.filter((token) => (isLonger ? token.length > length : token.length <= length));
	return fitting.toSorted((a, b) => (isLonger ? a.length - b.length : b.length - a.length))[0] ?? '';
}

const syntaxAttacks: AttackToken[] = [
	withPayload('A62', 'scope twice', (json, { scopeBase }) => json.replace('{', `{"scope":"${scopeBase}/invoke",`)),
	withPayload('A62', 'exp twice', (json) => json.replace('{', '{"exp":1,')),
	withPayload('A62', 'scope twice, once by escapes', (json) => json.replace('{', '{"sc\\u006fpe":"a",')),
	withPayload('A62', 'a nested member twice', (json) => json.replace('{', '{"act":{"sub":"a","sub":"b"},')),
	respelled('A63', 'padding', (accessToken) => `${accessToken}==`),
	respelled('A63', 'padded payload', (accessToken) => accessToken.replace(/\.([^.]+)\./, '.$1=.')),
	respelled('A63', 'a space inside', (accessToken) => accessToken.replace('.', ' .')),
	respelled('A63', 'a second space before', (accessToken) => ` ${accessToken}`),
	respelled('A63', 'a comma and a second token', (accessToken) => `${accessToken},${accessToken}`),
	respelled('A63', 'the other base64 alphabet', (accessToken) => {
		const [head, payload, signature = ''] = accessToken.split('.');
		return `${head}.${payload}.+${signature.slice(1)}`;
	}),
	respelled('A63', 'spare bits of the signature set', (accessToken) => accessToken.slice(0, -1) + nextLetter(last(accessToken))),
	{
		id: 'A63',
		title: 'spare bits of the payload set',
		makeToken: (issuer) => {
			const payload = Buffer.from(JSON.stringify(issuer.claims()));
			const padded = Buffer.concat([payload, Buffer.from(' '.repeat((4 - (payload.length % 3)) % 3))]).toString('base64url');
			const signed = `${encodePart(issuer.header())}.${padded.slice(0, -1)}${nextLetter(last(padded))}`;
			return `${signed}.${signWith(issuer.key)(Buffer.from(signed)).toString('base64url')}`;
		},
		expect: 401,
	},
	withPayload('A63', 'a byte-order mark', (json) => `\ufeff${json}`),
	withPayload('A63', 'invalid UTF-8', (json) => Buffer.concat([Buffer.from(json.replace('{', '{"x":"')), Buffer.from([0xff])])),
	withPayload('A63', 'invalid UTF-8 inside a text', (json) =>
		Buffer.concat([Buffer.from('{"x":"'), Buffer.from([0xc3]), Buffer.from(`",${json.slice(1)}`)]),
	),
	withPayload('A63', 'claims are an array', (json) => `[${json}]`),
	withPayload('A63', 'claims are null', () => 'null'),
	withPayload(
		'A63',
		'scope hidden in __proto__',
		(json, { scopeBase }) => json.replace(/"scope":"[^"]*"/, `"__proto__":{"scope":"${scopeBase}/invoke"}`),
		403,
	),
	{ id: 'A64', title: 'just over 8,192 characters', makeToken: (issuer) => tokenOfLength(issuer, 8192, true), expect: 401 },
	{ id: 'A64', title: 'not quite 8,193 characters', makeToken: (issuer) => tokenOfLength(issuer, 8192, false), expect: 200 },
	{
		id: 'A64',
		title: '2 MB',
		makeToken: (issuer) => issuer.accessToken({ pad: 'x'.repeat(1_500_000) }),
		expect: 401,
		expectOverHttp: [431, 400],
	},
	{
		id: 'A64',
		title: 'two Authorization headers',
		makeToken: good,
		expect: 401,
		expectOverHttp: [400],
		authorization: (token) => [`Bearer ${token}`, `Bearer ${token}`],
	},
	{ id: 'A64', title: 'bearer', makeToken: good, expect: 200, authorization: (token) => `bearer ${token}` },
	{ id: 'A64', title: 'BEARER', makeToken: good, expect: 200, authorization: (token) => `BEARER ${token}` },
	{ id: 'A64', title: 'another scheme', makeToken: good, expect: 401, authorization: (token) => `Basic ${token}` },
	{ id: 'A64', title: 'a tab behind the scheme', makeToken: good, expect: 401, authorization: (token) => `Bearer\t${token}` },
	{ id: 'A64', title: 'Bearer without token', makeToken: good, expect: 401, authorization: () => 'Bearer' },
	{ id: 'A64', title: 'Bearer and a space', makeToken: good, expect: 401, authorization: () => 'Bearer ' },
	{ id: 'A64', title: 'no Authorization header', makeToken: good, expect: 401, authorization: () => undefined },
	{
		id: 'A64',
		title: 'token in the query',
		makeToken: good,
		expect: 401,
		authorization: () => undefined,
		query: (token) => `access_token=${token}`,
	},
];

export const attackTokens: readonly AttackToken[] = [
	...algorithmAttacks,
	...keyAttacks,
	...headerAttacks,
	...timeAttacks,
	...issuerAttacks,
	...scopeAttacks,
	...syntaxAttacks,
];

/** Valid tokens with the other allowed algorithms. They show that the rejections above are not caused by a missing key. */
export const goodTokens: readonly AttackToken[] = [
	{ id: 'good', title: 'RS256', makeToken: good, expect: 200 },
	{ id: 'good', title: 'ES256', makeToken: (issuer) => issuer.accessToken({}, {}, ecKey), expect: 200 },
	{ id: 'good', title: 'EdDSA', makeToken: (issuer) => issuer.accessToken({}, {}, edKey), expect: 200 },
	{ id: 'good', title: 'typ JWT', makeToken: (issuer) => issuer.accessToken({}, { typ: 'JWT' }), expect: 200 },
	{ id: 'good', title: 'no typ', makeToken: (issuer) => issuer.accessToken({}, { typ: undefined }), expect: 200 },
	{ id: 'good', title: 'fractional exp', makeToken: (issuer) => issuer.accessToken({ exp: issuer.nowSeconds() + 3600.5 }), expect: 200 },
];

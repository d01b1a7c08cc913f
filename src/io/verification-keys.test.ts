import { generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Jwk, makeSigningKey } from '../../test/support/test-issuer.ts';
import { Rejection } from '../core/rejection.ts';
import { readCompactToken } from '../policy/access/compact-token.ts';
import { isSignedBy, parseKeySet } from './verification-keys.ts';

const rsa = makeSigningKey('rsa').jwk;
const ec = makeSigningKey('ec', 'ES256').jwk;

const reasonFor = (jwk: unknown): string | undefined => parseKeySet({ keys: [jwk] }).skipped[0]?.reason;

describe('an unusable key is skipped, and the others are kept', () => {
	const p384 = generateKeyPairSync('ec', { namedCurve: 'P-384' }).publicKey.export({ format: 'jwk' });
	const withPrivate = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' });
	const cases: [string, unknown, RegExp][] = [
		['for encryption', { ...rsa, use: 'enc' }, /use/],
		['with other operations', { ...rsa, key_ops: ['encrypt'] }, /key_ops/],
		['of another algorithm', { ...rsa, alg: 'PS256' }, /alg is not RS256/],
		['of another curve', { ...p384, kid: 'a' }, /not an RSA, P-256 or Ed25519 key/],
		['symmetric', { kty: 'oct', kid: 'a', k: 'AAAA' }, /not an RSA, P-256 or Ed25519 key/],
		['without kid', { ...rsa, kid: undefined }, /kid/],
		['with a kid that is no text', { ...rsa, kid: 7 }, /kid/],
		['with an endless kid', { ...rsa, kid: 'k'.repeat(257) }, /kid/],
		['with its private part', { ...withPrivate, kid: 'a' }, /private/],
		['off the curve', { ...ec, y: ec['x'] }, /not a valid key/],
		['with the exponent 1', { ...rsa, e: 'AQ' }, /exponent|valid/],
		['with an even exponent', { ...rsa, e: 'AQAA' }, /exponent|valid/],
		['that is no object', 'key', /object/],
	];
	test.each(cases)('%s', (_title, jwk, reason) => {
		const { keys, skipped } = parseKeySet({ keys: [jwk, { ...ec, kid: 'other' }] });
		expect([...keys.keys()]).toEqual(['other']);
		expect(skipped[0]?.reason).toMatch(reason);
	});
});

test('a key without alg has the algorithm of its kind', () => {
	const { keys } = parseKeySet({
		keys: [rsa, ec, makeSigningKey('ed', 'EdDSA').jwk].map((jwk) => ({ ...jwk, alg: undefined, use: undefined })),
	});
	expect([...keys.values()].map(({ algorithm }) => algorithm)).toEqual(['RS256', 'ES256', 'EdDSA']);
});

test.each([
	['no object', []],
	['no list', { keys: {} }],
	['null', null],
	['eleven keys', { keys: Array.from({ length: 11 }, (_, index) => ({ ...ec, kid: String(index) })) }],
	['one kid twice', { keys: [rsa, { ...ec, kid: 'rsa' }] }],
	['one kid twice, once unusable', { keys: [rsa, { ...rsa, use: 'enc' }] }],
])('a document with %s is rejected as a whole', (_title, document) => {
	expect(() => parseKeySet(document)).toThrow(/key set/);
});

interface Vectors {
	readonly testGroups: readonly {
		readonly comment: string;
		readonly public?: Jwk & { readonly keys?: readonly Jwk[] };
		readonly private: Jwk & { readonly keys?: readonly Jwk[] };
		readonly tests: readonly {
			readonly tcId: number;
			readonly comment: string;
			readonly jws: string;
			readonly result: 'valid' | 'invalid';
		}[];
	}[];
}

/** Algorithms outside the allowed list are rejected, however valid their signatures. */
const allowed = new Set(['RS256', 'ES256', 'EdDSA']);

describe.each(['json_web_signature_test', 'json_web_key_test'])('Wycheproof %s', (name) => {
	const file = join(import.meta.dirname, `../../test/suites/jwt/${name}.json`);
	const { testGroups } = JSON.parse(readFileSync(file, 'utf8')) as Vectors;
	const vectors = testGroups.flatMap((group) => {
		const published = group.public ?? group.private;
		const document = published.keys === undefined ? { keys: [published] } : published;
		return group.tests.map((vector) => ({ ...vector, group: group.comment, document }));
	});

	test.each(vectors)('$group $tcId $comment: $result', ({ jws, document, result }) => {
		expect(isAccepted(jws, document)).toBe(result === 'valid' && allowed.has(algorithmOf(jws)));
	});

	test('the vectors are present', () => {
		const acceptedCount = vectors.filter(({ jws, document }) => isAccepted(jws, document)).length;
		expect([vectors.length, acceptedCount]).toEqual(name.includes('signature') ? [401, 10] : [26, 1]);
	});
});

test('weak keys are rejected with their reason', () => {
	const file = join(import.meta.dirname, '../../test/suites/jwt/json_web_key_test.json');
	const { testGroups } = JSON.parse(readFileSync(file, 'utf8')) as Vectors;
	const keyOf = (comment: string): unknown => testGroups.find((group) => group.comment === comment)?.public?.keys?.[0];
	expect(reasonFor(keyOf('jws_rsa_roca_key'))).toMatch(/CVE-2017-15361/);
	expect(reasonFor(keyOf('keysize_too_small'))).toMatch(/fewer than 2048 bits/);
	expect(reasonFor(keyOf('exponentOne'))).toMatch(/exponent/);
});

function isAccepted(jws: string, document: unknown): boolean {
	try {
		const token = readCompactToken(jws);
		const key = parseKeySet(document).keys.get(token.keyId);
		return key !== undefined && isSignedBy(token, key);
	} catch (cause) {
		if (cause instanceof Rejection || (cause instanceof Error && cause.message.startsWith('the key set'))) return false;
		throw cause;
	}
}

function algorithmOf(jws: string): string {
	return (JSON.parse(Buffer.from(jws.split('.')[0] ?? '', 'base64url').toString()) as { alg: string }).alg;
}

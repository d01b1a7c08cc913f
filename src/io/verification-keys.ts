/** Parses an issuer's key set document (RFC 7517) into keys that verify signatures, each bound to one algorithm. */
import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import type { CompactToken } from '../policy/access/compact-token.ts';

export interface VerificationKey {
	readonly keyId: string;
	readonly algorithm: SignatureAlgorithm;
	readonly key: KeyObject;
}

export type SignatureAlgorithm = 'RS256' | 'ES256' | 'EdDSA';

export interface ParsedKeySet {
	readonly keys: ReadonlyMap<string, VerificationKey>;
	/** Unusable keys of the document, each with a reason. */
	readonly skipped: readonly { readonly keyId: string; readonly reason: string }[];
}

const maxKeys = 10;
const minRsaBits = 2048;
const maxKeyIdLength = 256;

type Jwk = Readonly<Record<string, unknown>>;

/**
 * Skips unusable keys; rejects a document in which a key is ambiguous.
 * @throws Error if there is no list of keys, or it has more than ten, or two with one `kid`.
 */
export function parseKeySet(document: unknown): ParsedKeySet {
	const listed = isRecord(document) ? document['keys'] : undefined;
	if (!Array.isArray(listed)) throw new Error('the key set has no array `keys`');
	if (listed.length > maxKeys) throw new Error(`the key set has ${listed.length} keys, more than ${maxKeys}`);
	const keys = new Map<string, VerificationKey>();
	const skipped: { keyId: string; reason: string }[] = [];
	const seen = new Set<string>();
	for (const jwk of listed as readonly unknown[]) {
		const keyId = isRecord(jwk) && typeof jwk['kid'] === 'string' ? jwk['kid'] : '';
		if (keyId !== '' && seen.has(keyId)) throw new Error(`the key set has two keys with the kid ${JSON.stringify(keyId.slice(0, 64))}`);
		seen.add(keyId);
		const key = isRecord(jwk) ? readKey(jwk, keyId) : 'not an object';
		if (typeof key === 'string') skipped.push({ keyId, reason: key });
		else keys.set(keyId, key);
	}
	return { keys, skipped };
}

/** The algorithm comes from the key; a token that names another one is not signed by it. */
export function isSignedBy(token: CompactToken, { algorithm, key }: VerificationKey): boolean {
	if (token.algorithm !== algorithm) return false;
	const signed = Buffer.from(token.signedText, 'latin1');
	switch (algorithm) {
		case 'RS256':
			return verify('sha256', signed, key, token.signature);
		case 'ES256':
			return verify('sha256', signed, { key, dsaEncoding: 'ieee-p1363' }, token.signature);
		case 'EdDSA':
			return verify(null, signed, key, token.signature);
	}
}

/** @returns the reason if the key is unusable. */
function readKey(jwk: Jwk, keyId: string): VerificationKey | string {
	if (keyId === '' || keyId.length > maxKeyIdLength) return 'no usable kid';
	if (jwk['use'] !== undefined && jwk['use'] !== 'sig') return 'use is not sig';
	const operations = jwk['key_ops'];
	if (operations !== undefined && !(Array.isArray(operations) && operations.includes('verify'))) return 'key_ops does not name verify';
	const algorithm = algorithmOf(jwk);
	if (algorithm === undefined) return 'not an RSA, P-256 or Ed25519 key';
	if (jwk['alg'] !== undefined && jwk['alg'] !== algorithm) return `alg is not ${algorithm}`;
	if (jwk['d'] !== undefined) return 'its private part is published';
	try {
		const key = createPublicKey({ key: jwk, format: 'jwk' });
		return (algorithm === 'RS256' ? rsaWeakness(key, jwk) : undefined) ?? { keyId, algorithm, key };
	} catch {
		return 'not a valid key';
	}
}

function algorithmOf({ kty, crv }: Jwk): SignatureAlgorithm | undefined {
	if (kty === 'RSA') return 'RS256';
	if (kty === 'EC' && crv === 'P-256') return 'ES256';
	return kty === 'OKP' && crv === 'Ed25519' ? 'EdDSA' : undefined;
}

function rsaWeakness(key: KeyObject, { n }: Jwk): string | undefined {
	const { modulusLength = 0, publicExponent = 0n } = key.asymmetricKeyDetails ?? {};
	if (modulusLength < minRsaBits) return `an RSA key of fewer than ${minRsaBits} bits`;
	if (publicExponent < 3n || publicExponent % 2n === 0n) return 'an RSA key with an unusable exponent';
	return isRocaModulus(BigInt(`0x${Buffer.from(String(n), 'base64url').toString('hex')}`)) ? 'a weak RSA key (CVE-2017-15361)' : undefined;
}

function isRecord(value: unknown): value is Jwk {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Moduli of a faulty generator (CVE-2017-15361) are powers of 65537 modulo every small prime. The odds of another modulus passing all these
 * primes are below one in a hundred million.
 */
const primes = [
	3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97, 101, 103, 107, 109, 113, 127, 131, 137, 139,
	149, 151, 157, 163, 167,
];

const fingerprint = primes.map((prime) => ({ prime: BigInt(prime), powers: powersOf65537(prime) }));

function isRocaModulus(modulus: bigint): boolean {
	return fingerprint.every(({ prime, powers }) => powers.has(Number(modulus % prime)));
}

function powersOf65537(prime: number): ReadonlySet<number> {
	const powers = new Set<number>();
	for (let power = 1; !powers.has(power); power = (power * 65_537) % prime) powers.add(power);
	return powers;
}

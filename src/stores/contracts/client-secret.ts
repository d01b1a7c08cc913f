/** Stores client secrets only as hashes, `scrypt$N$r$p$salt$hash`. */
import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';

/** RFC 7914: N is `cost`, r is `blockSize`, p is `parallelization`. */
export interface ScryptCost {
	readonly cost: number;
	readonly blockSize: number;
	readonly parallelization: number;
}

/** About 35 ms of one thread and 16 MiB per guess. */
export const defaultScryptCost: ScryptCost = { cost: 2 ** 14, blockSize: 8, parallelization: 1 };

/** Parameters of a hash besides the secret. */
export interface Derivation extends ScryptCost {
	readonly salt: Buffer;
}

const hashBytes = 32;
/** Limits the memory of a hash, so that a record cannot exhaust the process. */
const maxMemoryBytes = 256 * 2 ** 20;
const encodedPattern = /^scrypt\$(\d{1,7})\$(\d{1,3})\$(\d{1,2})\$([A-Za-z0-9_-]+)\$([A-Za-z0-9_-]+)$/;

export function newDerivation(cost: ScryptCost = defaultScryptCost): Derivation {
	return { ...cost, salt: randomBytes(16) };
}

/** Runs in the thread pool. */
export function derive(secret: string, { salt, cost, blockSize, parallelization }: Derivation): Promise<Buffer> {
	return new Promise((resolve, reject) => {
		const options = { N: cost, r: blockSize, p: parallelization, maxmem: maxMemoryBytes + 2 ** 20 };
		scrypt(secret, salt, hashBytes, options, (failure, hash) => (failure === null ? resolve(hash) : reject(failure)));
	});
}

/**
 * @param derivation pass that of the client's other secret, so that one derivation checks both. Otherwise response times would distinguish
 * a client with two secrets from an unknown one.
 */
export async function hashClientSecret(secret: string, derivation: Derivation = newDerivation()): Promise<string> {
	const { cost, blockSize, parallelization, salt } = derivation;
	const hash = await derive(secret, derivation);
	return ['scrypt', cost, blockSize, parallelization, salt.toString('base64url'), hash.toString('base64url')].join('$');
}

/** @returns undefined when the text is no such hash, or one that is too expensive to check. */
export function parseSecretHash(encoded: string): { derivation: Derivation; hash: Buffer } | undefined {
	const [, costText, blockSizeText, parallelizationText, saltText = '', hashText = ''] = encodedPattern.exec(encoded) ?? [];
	const [cost, blockSize, parallelization] = [Number(costText), Number(blockSizeText), Number(parallelizationText)];
	const hash = Buffer.from(hashText, 'base64url');
	const isCostLegal = cost >= 2 && Number.isInteger(Math.log2(cost)) && blockSize >= 1 && parallelization >= 1 && parallelization <= 16;
	if (!isCostLegal || 128 * cost * blockSize > maxMemoryBytes || hash.length !== hashBytes) return undefined;
	return { derivation: { cost, blockSize, parallelization, salt: Buffer.from(saltText, 'base64url') }, hash };
}

/**
 * Compares in constant time. A secret with trailing zeros never matches, because scrypt treats it like the one without them (its HMAC pads
 * keys with zeros).
 * @param derived from the secret.
 */
export function isHashOf(hash: Buffer, secret: string, derived: Buffer): boolean {
	return hash.length === derived.length && timingSafeEqual(hash, derived) && !secret.endsWith('\0');
}

/** Equal derivations have equal keys. */
export function derivationKey({ cost, blockSize, parallelization, salt }: Derivation): string {
	return `${cost}$${blockSize}$${parallelization}$${salt.toString('base64url')}`;
}

import { hash } from 'node:crypto';
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { RequestFilters } from './request-block.ts';

const options = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

export function compressBlock(text: string): Uint8Array {
	return zstdCompressSync(text, options);
}

export function decompressBlock(data: Uint8Array): string {
	return zstdDecompressSync(data).toString();
}

const hashDigits = 12;

/** Returns the number under which a key such as `team=red` is indexed. Two keys of one number only cost a reader time. */
export function hashKey(key: string): number {
	return Number.parseInt(hash('sha1', key, 'hex').slice(0, hashDigits), 16);
}

/** @returns hashes of the keys that a block with a matching request has. */
export function keysOf({ team, clientId, model, provider, status, code, endpoint, attributes = {} }: RequestFilters): number[] {
	const keys = [
		...Object.entries(attributes).map(([name, value]) => `attribute:${name}=${value}`),
		...(clientId === undefined ? [] : [`client=${clientId}`]),
		...(code === undefined ? [] : [`code=${code}`]),
		...(team === undefined ? [] : [`team=${team}`]),
		...(model === undefined ? [] : [`model=${model}`]),
		...(provider === undefined ? [] : [`provider=${provider}`]),
		...(status === undefined ? [] : [`status=${status}`]),
		...(endpoint === undefined ? [] : [`endpoint=${endpoint}`]),
	];
	return keys.map(hashKey);
}

/** Caches one access token per endpoint, client and scope, in a file that only its owner can read. Never stores the client secret. */
import { createHash, randomBytes } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { lstat, mkdir, open, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { isUsableAccessToken } from '../../client/token-response.ts';
import type { TokenSettings } from './token-settings.ts';

export interface CachedToken {
	readonly accessToken: string;
	/** Time of the token request, unix milliseconds. */
	readonly fetchedAtMs: number;
	/** Null when neither the token nor the response states it. */
	readonly expiresAtMs: number | null;
}

const maxFileBytes = 2_097_152;

/**
 * `$XDG_CACHE_HOME/tollgate`, or by default `~/.cache/tollgate`.
 * @throws Error when neither is an absolute path: other users would find a token in the working directory of some command.
 */
export function cacheDirectory(env: Readonly<Record<string, string | undefined>>, home = homedir()): string {
	const base = [env['XDG_CACHE_HOME'] ?? '', join(home, '.cache')].find(isAbsolute);
	if (base === undefined) throw new Error('neither XDG_CACHE_HOME nor HOME is an absolute path');
	return join(base, 'tollgate');
}

export function cacheFileName({ endpoint, clientId, scope }: TokenSettings): string {
	const digest = createHash('sha256')
		.update(JSON.stringify([endpoint.href, clientId, scope ?? null]))
		.digest('hex');
	return `token-${digest.slice(0, 32)}.json`;
}

/**
 * @returns undefined when there is none or it is malformed.
 * @throws Error when the file or its directory is not private; its content must not be used then.
 */
export async function readCachedToken(directory: string, name: string): Promise<CachedToken | undefined> {
	const text = await readPrivateFile(directory, name);
	return text === undefined ? undefined : parseCachedToken(text);
}

/** Replaces the file atomically: a concurrent run reads either the old token or the new one. */
export async function writeCachedToken(directory: string, name: string, cached: CachedToken): Promise<void> {
	await mkdir(directory, { recursive: true, mode: 0o700 });
	assertPrivate(directory, await lstat(directory), 'isDirectory');
	const draft = join(directory, `${name}.${randomBytes(6).toString('hex')}`);
	try {
		const file = await open(draft, 'wx', 0o600);
		try {
			await file.writeFile(JSON.stringify(cached));
		} finally {
			await file.close();
		}
		await rename(draft, join(directory, name));
	} catch (error) {
		await rm(draft, { force: true });
		throw error;
	}
}

async function readPrivateFile(directory: string, name: string): Promise<string | undefined> {
	const path = join(directory, name);
	try {
		assertPrivate(directory, await lstat(directory), 'isDirectory');
		// Links are not followed, and a pipe in place of the file does not block.
		const file = await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
		try {
			const stats = await file.stat();
			assertPrivate(path, stats, 'isFile');
			return stats.size > maxFileBytes ? undefined : await file.readFile('utf8');
		} finally {
			await file.close();
		}
	} catch (error) {
		if (error instanceof Error && 'code' in error) {
			if (error.code === 'ENOENT') return undefined;
			if (error.code === 'ELOOP') throw new Error(`${path} is a symbolic link`, { cause: error });
		}
		throw error;
	}
}

function assertPrivate(path: string, stats: Stats, kind: 'isFile' | 'isDirectory'): void {
	if (!stats[kind]()) throw new Error(`${path} is not a ${kind === 'isFile' ? 'regular file' : 'directory'}`);
	// Windows keeps the profile directory private by itself and has no mode bits to check.
	if (process.getuid === undefined) return;
	if (stats.uid !== process.getuid()) throw new Error(`${path} belongs to another user`);
	if ((stats.mode & 0o077) !== 0) throw new Error(`${path} is accessible to other users: run chmod go= ${path}`);
}

function parseCachedToken(text: string): CachedToken | undefined {
	try {
		const { accessToken, fetchedAtMs, expiresAtMs } = JSON.parse(text) as Partial<Record<keyof CachedToken, unknown>>;
		if (typeof accessToken !== 'string' || !isUsableAccessToken(accessToken)) return undefined;
		if (typeof fetchedAtMs !== 'number' || !(expiresAtMs === null || typeof expiresAtMs === 'number')) return undefined;
		return { accessToken, fetchedAtMs, expiresAtMs };
	} catch {
		return undefined;
	}
}

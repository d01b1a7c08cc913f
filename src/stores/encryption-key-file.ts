/**
 * Encryption key that is generated when none is configured. It is a file next to the embedded records, so that a copy of the database alone
 * reveals nothing.
 */
import { randomUUID } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, linkSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StoreUnusable } from './contracts/store-unusable.ts';
import { newEncryptionKey, parseEncryptionKeys } from './encryption.ts';

export const encryptionKeyFileName = 'encryption.key';
/** File name in data directories of an earlier release. */
const earlierKeyFileName = 'sealing.key';

/**
 * @param canMake generates a key, readable only by its owner, if there is none. Processes that do so at once end up with the same key.
 * @returns the keys of the file, of which the first encrypts; none when there is no file.
 * @throws StoreUnusable when the file cannot be read, created or parsed.
 */
export function readEncryptionKeyFile(dataDir: string, canMake: boolean): Buffer[] {
	const path = join(dataDir, encryptionKeyFileName);
	let text: string;
	try {
		if (!existsSync(path) && !adoptEarlierFile(dataDir, path)) {
			if (!canMake) return [];
			makeKeyFile(dataDir, path);
		}
		text = readFileSync(path, 'utf8');
	} catch (cause) {
		const reason = cause instanceof Error ? cause.message : String(cause);
		throw new StoreUnusable(`The encryption key ${path} cannot be read or created: ${reason}. Correct its owner and mode.`, {
			cause,
		});
	}
	const keys = parseEncryptionKeys(text);
	if (keys === undefined) {
		throw new StoreUnusable(`${path} has no encryption key (32 bytes in base64 or hex). Restore it from a backup.`);
	}
	return keys;
}

/** Creates the file atomically and syncs it, so that it survives a power loss before anything is encrypted with it. */
function makeKeyFile(dataDir: string, path: string): void {
	const draft = `${path}.${randomUUID()}`;
	try {
		writeFileSync(draft, `${newEncryptionKey()}\n`, { mode: 0o600, flag: 'wx', flush: true });
		linkSync(draft, path);
	} catch (cause) {
		// Another process was faster: its key is used.
		if (!existsSync(path)) throw cause;
	} finally {
		rmSync(draft, { force: true });
	}
	flushDirectory(dataDir);
}

/** @returns true if the file exists now. */
function adoptEarlierFile(dataDir: string, path: string): boolean {
	const earlier = join(dataDir, earlierKeyFileName);
	if (!existsSync(earlier)) return existsSync(path);
	try {
		renameSync(earlier, path);
	} catch (cause) {
		// Another process was faster.
		if (!existsSync(path)) throw cause;
	}
	flushDirectory(dataDir);
	return true;
}

function flushDirectory(dataDir: string): void {
	const directory = openSync(dataDir, 'r');
	try {
		fsyncSync(directory);
	} finally {
		closeSync(directory);
	}
}

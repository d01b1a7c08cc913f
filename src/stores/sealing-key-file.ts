/** The sealing key that is made when nobody names one: a file beside the embedded records, of which a stolen database says nothing. */
import { randomUUID } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, linkSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StoreUnusable } from './contracts/store-unusable.ts';
import { newSealingKey, parseSealingKeys } from './sealing.ts';

export const sealingKeyFileName = 'encryption.key';
/** Name of the file in data directories that an earlier release made. */
export const earlierKeyFileName = 'sealing.key';

/**
 * @param mayMake one is made, readable to its owner only, when there is none; processes that do so at once end up with the same.
 * @returns the keys of the file, the first of which seals; none when there is no file.
 * @throws StoreUnusable when the file cannot be read, made or understood.
 */
export function readSealingKeyFile(dataDir: string, mayMake: boolean): Buffer[] {
	const path = join(dataDir, sealingKeyFileName);
	let text: string;
	try {
		if (!existsSync(path) && !adoptEarlierFile(dataDir, path)) {
			if (!mayMake) return [];
			makeKeyFile(dataDir, path);
		}
		text = readFileSync(path, 'utf8');
	} catch (cause) {
		const reason = cause instanceof Error ? cause.message : String(cause);
		throw new StoreUnusable(`The encryption key ${path} cannot be read or created: ${reason}. Correct its owner and mode.`, {
			cause,
		});
	}
	const keys = parseSealingKeys(text);
	if (keys === undefined) {
		throw new StoreUnusable(`${path} has no encryption key (32 bytes in base64 or hex). Restore it from a backup.`);
	}
	return keys;
}

/** The file appears with its content or not at all, and survives the loss of power before anything is sealed with it. */
function makeKeyFile(dataDir: string, path: string): void {
	const draft = `${path}.${randomUUID()}`;
	try {
		writeFileSync(draft, `${newSealingKey()}\n`, { mode: 0o600, flag: 'wx', flush: true });
		linkSync(draft, path);
	} catch (cause) {
		// Another process was quicker: its key is the one.
		if (!existsSync(path)) throw cause;
	} finally {
		rmSync(draft, { force: true });
	}
	flushDirectory(dataDir);
}

/** @returns whether the file is there now. */
function adoptEarlierFile(dataDir: string, path: string): boolean {
	const earlier = join(dataDir, earlierKeyFileName);
	if (!existsSync(earlier)) return existsSync(path);
	try {
		renameSync(earlier, path);
	} catch (cause) {
		// Another process was quicker.
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

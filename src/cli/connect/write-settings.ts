import { constants } from 'node:fs';
import { chmod, copyFile, mkdir, readFile, realpath, rename, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { CommandFailure } from '../command-failure.ts';
import type { ChangedSettings } from './json-settings.ts';

export interface WrittenSettings {
	/** File that was written: the target of a symbolic link. */
	readonly file: string;
	/** Copy of the earlier file; null if there was none, or if nothing changed. */
	readonly backup: string | null;
	readonly isChanged: boolean;
	readonly replaced: readonly string[];
}

/**
 * Changes a settings file atomically, after a copy of it. A new file is private to its owner.
 * @throws CommandFailure 1 if the file cannot be read, changed or written.
 */
export async function writeSettings(path: string, change: (text: string | undefined) => ChangedSettings): Promise<WrittenSettings> {
	try {
		const file = await realpath(path).catch(ifMissing(path));
		const before = await readFile(file, 'utf8').catch(ifMissing(undefined));
		const { text, replaced } = change(before);
		if (text === before) return { file, backup: null, isChanged: false, replaced };
		await mkdir(dirname(file), { recursive: true });
		const backup = before === undefined ? null : await copyAside(file);
		const temporary = `${file}.${process.pid}.tmp`;
		await writeFile(temporary, text, { mode: 0o600, flag: 'wx' });
		if (before !== undefined) await chmod(temporary, (await stat(file)).mode & 0o7777);
		await rename(temporary, file);
		return { file, backup, isChanged: true, replaced };
	} catch (cause) {
		const message = cause instanceof Error ? cause.message : String(cause);
		throw new CommandFailure(1, `${path}: ${message}`);
	}
}

/** Copies the file to the first free name, and never over an earlier copy. */
async function copyAside(file: string): Promise<string> {
	for (let number = 1; ; number += 1) {
		const copy = `${file}.backup${number === 1 ? '' : `-${number}`}`;
		try {
			await copyFile(file, copy, constants.COPYFILE_EXCL);
			return copy;
		} catch (cause) {
			if (!hasCode(cause, 'EEXIST')) throw cause;
		}
	}
}

function ifMissing<Fallback>(fallback: Fallback): (cause: unknown) => Fallback {
	return (cause) => {
		if (hasCode(cause, 'ENOENT')) return fallback;
		throw cause;
	};
}

function hasCode(cause: unknown, code: string): boolean {
	return cause instanceof Error && 'code' in cause && cause.code === code;
}

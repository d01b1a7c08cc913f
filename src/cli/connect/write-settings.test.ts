import {
	chmodSync,
	existsSync,
	lstatSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	rmSync,
	statSync,
	symlinkSync,
	writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writeSettings } from './write-settings.ts';

let directory: string;
let path: string;

beforeEach(() => {
	directory = mkdtempSync(join(tmpdir(), 'tollgate-connect-'));
	path = join(directory, 'config', 'settings.json');
});
afterEach(() => rmSync(directory, { recursive: true }));

const append = (before: string | undefined): { text: string; replaced: string[] } => ({ text: `${before ?? ''}+`, replaced: ['a'] });
const files = (): string[] => readdirSync(join(directory, 'config')).toSorted();

describe('a settings file', () => {
	it('is created with its directories, private to its owner', async () => {
		expect(await writeSettings(path, append)).toEqual({ file: path, backup: null, isChanged: true, replaced: ['a'] });
		expect([files(), readFileSync(path, 'utf8'), statSync(path).mode & 0o777]).toEqual([['settings.json'], '+', 0o600]);
	});

	it('keeps its mode, and every earlier version', async () => {
		await writeSettings(path, append);
		chmodSync(path, 0o644);
		expect(await writeSettings(path, append)).toMatchObject({ backup: `${path}.backup` });
		expect(await writeSettings(path, append)).toMatchObject({ backup: `${path}.backup-2` });
		expect(['', '.backup', '.backup-2'].map((end) => readFileSync(path + end, 'utf8'))).toEqual(['+++', '+', '++']);
		expect(statSync(path).mode & 0o777).toBe(0o644);
	});

	it('is not touched if nothing changes', async () => {
		await writeSettings(path, append);
		const { ino } = statSync(path);
		const same = await writeSettings(path, (text = '') => ({ text, replaced: [] }));
		expect(same).toEqual({ file: path, backup: null, isChanged: false, replaced: [] });
		expect([files(), statSync(path).ino]).toEqual([['settings.json'], ino]);
	});

	it('stays a symbolic link, and its target changes', async () => {
		await writeSettings(path, append);
		const link = join(directory, 'link.json');
		symlinkSync(path, link);
		expect(await writeSettings(link, append)).toMatchObject({ file: path });
		expect([lstatSync(link).isSymbolicLink(), readFileSync(path, 'utf8')]).toEqual([true, '++']);
	});

	it('stays unchanged and without a copy if the change fails', async () => {
		await writeSettings(path, append);
		const failing = (): never => {
			throw new Error('not JSON');
		};
		await expect(writeSettings(path, failing)).rejects.toMatchObject({ exitCode: 1, message: `${path}: not JSON` });
		expect([files(), readFileSync(path, 'utf8')]).toEqual([['settings.json'], '+']);
	});

	it('below a file is an error with exit code 1', async () => {
		writeFileSync(join(directory, 'config'), '');
		await expect(writeSettings(path, append)).rejects.toMatchObject({ exitCode: 1 });
		expect(existsSync(path)).toBe(false);
	});
});

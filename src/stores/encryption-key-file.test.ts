import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { StoreUnusable } from './contracts/store-unusable.ts';
import { encryptionKeyFileName, readEncryptionKeyFile } from './encryption-key-file.ts';

function temporaryDirectory(): string {
	const path = mkdtempSync(join(tmpdir(), 'tollgate-sealing-'));
	onTestFinished(() => rmSync(path, { recursive: true }));
	return path;
}

test('a key is made once, for its owner only, and read from then on', () => {
	const dataDir = temporaryDirectory();
	expect(readEncryptionKeyFile(dataDir, false)).toEqual([]);
	expect(readdirSync(dataDir)).toEqual([]);
	const [key] = readEncryptionKeyFile(dataDir, true);
	expect(key).toHaveLength(32);
	expect(readdirSync(dataDir)).toEqual([encryptionKeyFileName]);
	expect(statSync(join(dataDir, encryptionKeyFileName)).mode & 0o777).toBe(0o600);
	expect(readEncryptionKeyFile(dataDir, true)).toEqual([key]);
	expect(readEncryptionKeyFile(dataDir, false)).toEqual([key]);
	expect(readEncryptionKeyFile(temporaryDirectory(), true)).not.toEqual([key]);
});

test('several keys, one a line, are all read, in their order', () => {
	const dataDir = temporaryDirectory();
	const [first] = readEncryptionKeyFile(dataDir, true);
	const path = join(dataDir, encryptionKeyFileName);
	writeFileSync(path, `${'ab'.repeat(32)}\n${readFileSync(path, 'utf8')}`);
	expect(readEncryptionKeyFile(dataDir, true)).toEqual([Buffer.from('ab'.repeat(32), 'hex'), first]);
});

test.each([true, false])('the key of an earlier release is kept under the new name, may make one %s', (canMake) => {
	const dataDir = temporaryDirectory();
	writeFileSync(join(dataDir, 'sealing.key'), `${'ab'.repeat(32)}\n`, { mode: 0o600 });
	expect(readEncryptionKeyFile(dataDir, canMake)).toEqual([Buffer.from('ab'.repeat(32), 'hex')]);
	expect(readdirSync(dataDir)).toEqual([encryptionKeyFileName]);
	expect(readEncryptionKeyFile(dataDir, canMake)).toEqual([Buffer.from('ab'.repeat(32), 'hex')]);
});

test.each(['', 'no key\n', 'ab'.repeat(31)])('a file that contains %j is rejected and unchanged', (text) => {
	const dataDir = temporaryDirectory();
	const path = join(dataDir, encryptionKeyFileName);
	writeFileSync(path, text);
	expect(() => readEncryptionKeyFile(dataDir, true)).toThrow(StoreUnusable);
	expect(() => readEncryptionKeyFile(dataDir, true)).toThrow(`${path} has no encryption key`);
	expect(readFileSync(path, 'utf8')).toBe(text);
});

test('a path where no key can be read or created is named', () => {
	const missing = join(temporaryDirectory(), 'missing');
	expect(() => readEncryptionKeyFile(missing, true)).toThrow(StoreUnusable);
	expect(() => readEncryptionKeyFile(missing, true)).toThrow(
		`The encryption key ${join(missing, encryptionKeyFileName)} cannot be read or created`,
	);
});

test('processes that start on an empty directory at once have the same key, and leave nothing else behind', async () => {
	const dataDir = temporaryDirectory();
	const script = `
		import { readEncryptionKeyFile } from ${JSON.stringify(join(import.meta.dirname, 'encryption-key-file.ts'))};
		console.log(readEncryptionKeyFile(${JSON.stringify(dataDir)}, true).map((key) => key.toString('hex')).join());`;
	const outputs = await Promise.all(
		[1, 2, 3, 4].map(async () => (await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script])).stdout.trim()),
	);
	expect(new Set(outputs).size).toBe(1);
	expect(outputs[0]).toMatch(/^[0-9a-f]{64}$/);
	expect(readdirSync(dataDir)).toEqual([encryptionKeyFileName]);
});

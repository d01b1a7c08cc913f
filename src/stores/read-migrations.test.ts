import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { readMigrations } from './read-migrations.ts';

function folderOf(files: Readonly<Record<string, string>>): URL {
	const folder = mkdtempSync(join(tmpdir(), 'tollgate-migrations-'));
	onTestFinished(() => rmSync(folder, { recursive: true }));
	for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
	return pathToFileURL(`${folder}/`);
}

test('steps come in the order of their numbers', () => {
	const files = Object.fromEntries(
		Array.from({ length: 11 }, (_, index) => [`${String(index + 1).padStart(2, '0')}-step.sql`, `${index}`]),
	);
	expect(readMigrations(folderOf(files))).toEqual(['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', '10']);
});

test('a missing or doubled number is an error, not a step left out', () => {
	expect(() => readMigrations(folderOf({ '01-first.sql': '', '03-third.sql': '' }))).toThrow(/lacks step 2$/);
	expect(() => readMigrations(folderOf({ '01-first.sql': '', '01-other.sql': '' }))).toThrow(/lacks step 2$/);
});

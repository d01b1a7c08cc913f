import { readdirSync, readFileSync } from 'node:fs';

/**
 * Returns the migration steps of a schema, oldest first: files such as `02-outbox.sql`, numbered from 01. A released file is never changed.
 * @throws Error when a number is missing.
 */
export function readMigrations(folder: URL): readonly string[] {
	const files = readdirSync(folder).toSorted();
	for (const [index, file] of files.entries()) {
		if (!file.startsWith(`${String(index + 1).padStart(2, '0')}-`)) throw new Error(`${folder.pathname} lacks step ${index + 1}`);
	}
	return files.map((file) => readFileSync(new URL(file, folder), 'utf8'));
}

import type { DatabaseSync } from 'node:sqlite';

/**
 * Brings a database to the newest schema. `steps` are one a version, oldest first; one that has been released is never
 * changed. `user_version` counts those applied.
 * @throws Error when a newer release has written the file.
 */
export function migrate(database: DatabaseSync, steps: readonly string[]): void {
	database.exec('BEGIN IMMEDIATE');
	try {
		const version = Number(database.prepare('PRAGMA user_version').get()?.['user_version']);
		if (version > steps.length) {
			throw new Error(`it was written by a newer release (schema ${version}, this release knows ${steps.length})`);
		}
		if (version < steps.length) {
			for (const step of steps.slice(version)) database.exec(step);
			database.exec(`PRAGMA user_version = ${steps.length}`);
		}
		database.exec('COMMIT');
	} catch (cause) {
		database.exec('ROLLBACK');
		throw cause;
	}
}

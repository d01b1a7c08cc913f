import type { DatabaseSync } from 'node:sqlite';

/** A step may process millions of rows while other processes of an installation start. */
const maxWaitMs = 300_000;

/**
 * Migrates a database to the newest schema. `steps` has one SQL text for each version, oldest first; a released one is never changed.
 * `user_version` counts the applied ones. Waits for another process that migrates; does not wait if the schema is current.
 * @throws Error when a newer release has written the file.
 */
export function migrate(database: DatabaseSync, steps: readonly string[]): void {
	if (versionOf(database, steps) === steps.length) return;
	const defaultWaitMs = Number(database.prepare('PRAGMA busy_timeout').get()?.['timeout']);
	database.exec(`PRAGMA busy_timeout = ${maxWaitMs}`);
	try {
		database.exec('BEGIN IMMEDIATE');
		applySteps(database, steps);
	} finally {
		database.exec(`PRAGMA busy_timeout = ${defaultWaitMs}`);
	}
}

function applySteps(database: DatabaseSync, steps: readonly string[]): void {
	try {
		const version = versionOf(database, steps);
		for (const step of steps.slice(version)) database.exec(step);
		database.exec(`PRAGMA user_version = ${steps.length}`);
		database.exec('COMMIT');
	} catch (cause) {
		database.exec('ROLLBACK');
		throw cause;
	}
}

function versionOf(database: DatabaseSync, steps: readonly string[]): number {
	const version = Number(database.prepare('PRAGMA user_version').get()?.['user_version']);
	if (version > steps.length) {
		throw new Error(`it was written by a newer release (schema ${version}, this release knows ${steps.length})`);
	}
	return version;
}

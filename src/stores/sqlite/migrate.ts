import type { DatabaseSync } from 'node:sqlite';

/** A step may go through millions of rows, while the other processes of an installation start. */
const mostWaitMs = 300_000;

/**
 * Brings a database to the newest schema. `steps` are one a version, oldest first; one that has been released is never
 * changed. `user_version` counts those applied. Waits for another process that does the same; one that is up to date is not waited for.
 * @throws Error when a newer release has written the file.
 */
export function migrate(database: DatabaseSync, steps: readonly string[]): void {
	if (versionOf(database, steps) === steps.length) return;
	const usualWaitMs = Number(database.prepare('PRAGMA busy_timeout').get()?.['timeout']);
	database.exec(`PRAGMA busy_timeout = ${mostWaitMs}`);
	try {
		database.exec('BEGIN IMMEDIATE');
		applySteps(database, steps);
	} finally {
		database.exec(`PRAGMA busy_timeout = ${usualWaitMs}`);
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

import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { expect, onTestFinished, test } from 'vitest';
import { migrate } from './migrate.ts';

const steps = ['CREATE TABLE one (id INTEGER) STRICT', 'INSERT INTO one VALUES (1)'];

test('one that is up to date is opened while another process writes', () => {
	const path = temporaryFile();
	const writer = open(path);
	migrate(writer, steps);
	writer.exec('BEGIN IMMEDIATE');
	const database = open(path);
	migrate(database, steps);
	expect(database.prepare('SELECT id FROM one').all()).toEqual([{ id: 1 }]);
});

test('a process waits for another that brings it up to date, longer than for a write, and repeats nothing', async () => {
	const path = temporaryFile();
	const first = open(path);
	first.exec('BEGIN IMMEDIATE');
	const script = `
		import { DatabaseSync } from 'node:sqlite';
		import { parentPort } from 'node:worker_threads';
		import { migrate } from ${JSON.stringify(pathToFileURL(join(import.meta.dirname, 'migrate.ts')).href)};
		const database = new DatabaseSync(${JSON.stringify(path)}, { timeout: 7 });
		parentPort.postMessage('starts');
		migrate(database, ${JSON.stringify(steps)});
		parentPort.postMessage([database.prepare('SELECT id FROM one').all().length, database.prepare('PRAGMA busy_timeout').get().timeout]);`;
	const second = new Worker(new URL(`data:text/javascript,${encodeURIComponent(script)}`));
	onTestFinished(async () => void (await second.terminate()));
	expect(await once(second, 'message')).toEqual(['starts']);
	for (const step of steps) first.exec(step);
	first.exec(`PRAGMA user_version = ${steps.length}; COMMIT`);
	expect(await once(second, 'message')).toEqual([[1, 7]]);
});

test('a step that fails leaves nothing behind, and the next start tries again', () => {
	const database = open(temporaryFile());
	expect(() => migrate(database, [...steps, 'INSERT INTO two VALUES (1)'])).toThrow('no such table: two');
	expect(database.prepare('SELECT count(*) AS tables FROM sqlite_schema').get()).toEqual({ tables: 0 });
	migrate(database, steps);
	expect(database.prepare('SELECT id FROM one').all()).toEqual([{ id: 1 }]);
});

/** A connection without a busy timeout. */
function open(path: string): DatabaseSync {
	const database = new DatabaseSync(path, { timeout: 0 });
	database.exec('PRAGMA journal_mode = WAL');
	onTestFinished(() => database.close());
	return database;
}

function temporaryFile(): string {
	const path = mkdtempSync(join(tmpdir(), 'tollgate-migrate-'));
	onTestFinished(() => rmSync(path, { recursive: true }));
	return join(path, 'some.db');
}

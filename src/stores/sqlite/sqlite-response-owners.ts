import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import type { Clock } from '../../core/clock.ts';
import { yieldToEventLoop } from '../../core/cooperative-task.ts';
import type { ResponseOwner, ResponseOwners } from '../contracts/response-owners.ts';
import { readMigrations } from '../read-migrations.ts';
import { integerOf, type Row, textOf } from '../row.ts';
import { createTransaction, read } from './database.ts';
import { migrate } from './migrate.ts';
import { openDatabase } from './open-database.ts';

export interface SqliteResponseOwners extends ResponseOwners {
	close(): void;
}

export const responseOwnersFileName = 'response-owners.db';

/** Rows that one step of a sweep deletes. */
const maxDeleted = 1000;

const migrations = new URL('migrations/response-owners/', import.meta.url);

/** Uses a separate file, opened on first use, so that a response does not trigger the polling of record changes. */
export function createSqliteResponseOwners(dataDir: string, clock: Clock): SqliteResponseOwners {
	let opened: Statements | undefined;
	const statements = (): Statements =>
		(opened ??= statementsOf(
			openDatabase(join(dataDir, responseOwnersFileName), (database) => migrate(database, readMigrations(migrations)), 'process'),
		));
	return {
		note: (ids, { team, provider, model, expiresAtMs }) =>
			read(() => {
				const { note, transaction } = statements();
				const nowMs = clock.nowMs();
				transaction(() => {
					for (const id of ids) note.run(id, team, provider, model, expiresAtMs, nowMs);
				});
			}),
		find: (ids) =>
			read(() => {
				const { find } = statements();
				const owners = new Map<string, ResponseOwner>();
				for (const id of ids) {
					const row = find.get(id, clock.nowMs());
					if (row !== undefined) owners.set(id, ownerOf(row));
				}
				return owners;
			}),
		forget: (id) => read(() => void statements().forget.run(id)),
		async sweep(maxIds) {
			await deleteInSteps(() => statements().deleteExpired.run(clock.nowMs(), maxDeleted).changes);
			await deleteInSteps(() => statements().deleteOldest.run(maxIds, maxDeleted).changes);
		},
		close() {
			if (opened?.database.isOpen === true) opened.database.close();
		},
	};
}

/** Deletes rows in steps between which the event loop runs. @param step returns the number of deleted rows. */
async function deleteInSteps(step: () => number | bigint): Promise<void> {
	while (Number(await read(step)) === maxDeleted) await yieldToEventLoop();
}

function ownerOf(row: Row): ResponseOwner {
	return {
		team: textOf(row, 'team'),
		provider: textOf(row, 'provider'),
		model: textOf(row, 'model'),
		expiresAtMs: integerOf(row, 'expires_at_ms'),
	};
}

type Statements = ReturnType<typeof statementsOf>;

function statementsOf(database: DatabaseSync) {
	return {
		database,
		transaction: createTransaction(database),
		note: database.prepare(`
			INSERT INTO response_owners (id, team, provider, model, expires_at_ms) VALUES (?, ?, ?, ?, ?)
			ON CONFLICT (id) DO UPDATE SET team = excluded.team, provider = excluded.provider, model = excluded.model,
				expires_at_ms = excluded.expires_at_ms
			WHERE team = excluded.team OR expires_at_ms <= ?`),
		find: database.prepare('SELECT team, provider, model, expires_at_ms FROM response_owners WHERE id = ? AND expires_at_ms > ?'),
		forget: database.prepare('DELETE FROM response_owners WHERE id = ?'),
		deleteExpired: database.prepare(`
			DELETE FROM response_owners
			WHERE sequence IN (SELECT sequence FROM response_owners WHERE expires_at_ms <= ? LIMIT ?)`),
		deleteOldest: database.prepare(`
			DELETE FROM response_owners
			WHERE sequence IN (
				SELECT sequence FROM response_owners WHERE sequence <= (SELECT max(sequence) FROM response_owners) - ? LIMIT ?
			)`),
	};
}

import type { Insertable, Selectable } from 'kysely';
import { auditEntryOf } from '../contracts/record-changes.ts';
import type { AuditEntry, Author, ClientRecord, ClientStore } from '../contracts/records.ts';
import { appendAudit } from './postgres-audit.ts';
import { findTeamOf, type TeamChanges } from './postgres-teams.ts';
import type { ChangeTransaction, RecordsDatabase } from './records-database.ts';
import type { ClientsTable, RecordsDb } from './records-schema.ts';

export function createPostgresClients({ read, write }: RecordsDatabase, teams: TeamChanges): ClientStore {
	return {
		get: (id) => read((db) => find(db, id)),
		list: () => read(async (db) => (await db.selectFrom('clients').selectAll().orderBy('id').execute()).map(clientOf)),
		create: (record, author) =>
			write(async (transaction) => {
				if ((await find(transaction.db, record.id)) !== undefined) return false;
				await transaction.db.insertInto('clients').values(rowOf(record)).execute();
				await note(transaction, author, 'create', undefined, record);
				return true;
			}),
		replace: (record, author) =>
			write(async (transaction) => {
				const before = await find(transaction.db, record.id);
				if (before === undefined) return false;
				await transaction.db.updateTable('clients').set(rowOf(record)).where('id', '=', record.id).execute();
				await note(transaction, author, 'replace', before, record);
				return true;
			}),
		delete: (id, author) =>
			write(async (transaction) => {
				const before = await find(transaction.db, id);
				if (before === undefined) return false;
				await transaction.db.deleteFrom('clients').where('id', '=', id).execute();
				await note(transaction, author, 'delete', before);
				await leaveTeam(transaction, teams, id, author);
				return true;
			}),
	};
}

async function find(db: RecordsDb, id: string): Promise<ClientRecord | undefined> {
	const row = await db.selectFrom('clients').selectAll().where('id', '=', id).executeTakeFirst();
	return row && clientOf(row);
}

async function note(
	{ db, nextVersion }: ChangeTransaction,
	author: Author | undefined,
	action: AuditEntry['action'],
	before?: ClientRecord,
	after?: ClientRecord,
): Promise<void> {
	// Clients carry no version, but others must learn of the change.
	nextVersion();
	const id = (before ?? after)?.id ?? '';
	if (author !== undefined) await appendAudit(db, auditEntryOf(author, action, 'client', id, before, after));
}

async function leaveTeam(transaction: ChangeTransaction, teams: TeamChanges, id: string, author: Author | undefined): Promise<void> {
	const team = await findTeamOf(transaction.db, id);
	if (team === undefined) return;
	const clientIds = team.clientIds.filter((other) => other !== id);
	await teams.replace(transaction, { ...team, clientIds }, author === undefined ? {} : { author });
}

function rowOf(record: ClientRecord): Insertable<ClientsTable> {
	return {
		id: record.id,
		name: record.name,
		secrets: JSON.stringify(record.secrets.map(({ hash, expiresAtMs }) => ({ hash, expiresAtMs }))),
		scopes: [...record.scopes],
		is_disabled: record.isDisabled,
		created_at_ms: record.createdAtMs,
		updated_at_ms: record.updatedAtMs,
	};
}

function clientOf(row: Selectable<ClientsTable>): ClientRecord {
	const { id, name, secrets, scopes, is_disabled, created_at_ms, updated_at_ms } = row;
	const times = { createdAtMs: Number(created_at_ms), updatedAtMs: Number(updated_at_ms) };
	return { id, name, secrets, scopes, isDisabled: is_disabled, ...times };
}

import type { DatabaseSync } from 'node:sqlite';
import { auditEntryOf } from '../contracts/record-changes.ts';
import type { AuditEntry, Author, ClientRecord, ClientStore } from '../contracts/records.ts';
import type { Row, Write } from './database.ts';
import { integerOf, integerOrNullOf, read, textOf } from './database.ts';
import type { AuditTable } from './sqlite-audit.ts';
import type { TeamChanges } from './sqlite-teams.ts';

/** @param audit takes entries inside the transaction. */
export function createSqliteClients(database: DatabaseSync, write: Write, teams: TeamChanges, audit: AuditTable): ClientStore {
	const selectOne = database.prepare('SELECT * FROM clients WHERE id = ?');
	const selectAll = database.prepare('SELECT * FROM clients ORDER BY id');
	const selectSecrets = database.prepare('SELECT hash, expires_at_ms FROM client_secrets WHERE client_id = ? ORDER BY position');
	const insert = database.prepare('INSERT INTO clients VALUES (:id, :name, :scopes, :disabled, :created, :updated)');
	const update = database.prepare(
		'UPDATE clients SET name = :name, scopes = :scopes, is_disabled = :disabled, created_at_ms = :created, updated_at_ms = :updated WHERE id = :id',
	);
	const insertSecret = database.prepare('INSERT INTO client_secrets VALUES (?, ?, ?, ?)');
	const deleteSecrets = database.prepare('DELETE FROM client_secrets WHERE client_id = ?');
	const deleteClient = database.prepare('DELETE FROM clients WHERE id = ?');
	const selectTeamOf = database.prepare('SELECT team_id FROM team_clients WHERE client_id = ?');

	const clientOf = (row: Row): ClientRecord => ({
		id: textOf(row, 'id'),
		name: textOf(row, 'name'),
		secrets: selectSecrets
			.all(textOf(row, 'id'))
			.map((secret) => ({ hash: textOf(secret, 'hash'), expiresAtMs: integerOrNullOf(secret, 'expires_at_ms') })),
		scopes: textOf(row, 'scopes').split(' ').filter(Boolean),
		isDisabled: integerOf(row, 'is_disabled') === 1,
		createdAtMs: integerOf(row, 'created_at_ms'),
		updatedAtMs: integerOf(row, 'updated_at_ms'),
	});
	const columnsOf = (record: ClientRecord): Record<string, string | number> => ({
		id: record.id,
		name: record.name,
		scopes: record.scopes.join(' '),
		disabled: record.isDisabled ? 1 : 0,
		created: record.createdAtMs,
		updated: record.updatedAtMs,
	});
	const putSecrets = (record: ClientRecord): void => {
		deleteSecrets.run(record.id);
		for (const [position, secret] of record.secrets.entries()) insertSecret.run(record.id, position, secret.hash, secret.expiresAtMs);
	};

	const find = (id: string): ClientRecord | undefined => {
		const row = selectOne.get(id);
		return row && clientOf(row);
	};
	const note = (author: Author | undefined, action: AuditEntry['action'], id: string, after?: ClientRecord): void => {
		if (author !== undefined) audit.append(auditEntryOf(author, action, 'client', id, find(id), after));
	};
	const leaveTeam = (id: string, author: Author | undefined): void => {
		const row = selectTeamOf.get(id);
		const team = row && teams.get(textOf(row, 'team_id'));
		if (team === undefined) return;
		const clientIds = team.clientIds.filter((other) => other !== id);
		teams.replace({ ...team, clientIds }, author === undefined ? {} : { author });
	};

	return {
		get: (id) => read(() => find(id)),
		list: () => read(() => selectAll.all().map(clientOf)),
		create: (record, author) =>
			write(() => {
				if (find(record.id) !== undefined) return false;
				note(author, 'create', record.id, record);
				insert.run(columnsOf(record));
				putSecrets(record);
				return true;
			}),
		replace: (record, author) =>
			write(() => {
				if (find(record.id) === undefined) return false;
				note(author, 'replace', record.id, record);
				update.run(columnsOf(record));
				putSecrets(record);
				return true;
			}),
		delete: (id, author) =>
			write(() => {
				if (find(id) === undefined) return false;
				note(author, 'delete', id);
				deleteClient.run(id);
				leaveTeam(id, author);
				return true;
			}),
	};
}

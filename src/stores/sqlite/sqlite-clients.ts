import type { DatabaseSync } from 'node:sqlite';
import type { ClientRecord, ClientStore } from '../contracts/records.ts';
import type { Row, Write } from './database.ts';
import { integerOf, integerOrNullOf, read, textOf } from './database.ts';

export function createSqliteClients(database: DatabaseSync, write: Write): ClientStore {
	const selectOne = database.prepare('SELECT * FROM clients WHERE id = ?');
	const selectAll = database.prepare('SELECT * FROM clients ORDER BY id');
	const selectSecrets = database.prepare('SELECT hash, expires_at_ms FROM client_secrets WHERE client_id = ? ORDER BY position');
	const insert = database.prepare('INSERT INTO clients VALUES (:id, :name, :scopes, :disabled, :created, :updated) ON CONFLICT DO NOTHING');
	const update = database.prepare(
		'UPDATE clients SET name = :name, scopes = :scopes, is_disabled = :disabled, created_at_ms = :created, updated_at_ms = :updated WHERE id = :id',
	);
	const insertSecret = database.prepare('INSERT INTO client_secrets VALUES (?, ?, ?, ?)');
	const deleteSecrets = database.prepare('DELETE FROM client_secrets WHERE client_id = ?');
	const deleteClient = database.prepare('DELETE FROM clients WHERE id = ?');
	const leaveTeam = database.prepare('DELETE FROM team_clients WHERE client_id = ?');

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

	return {
		get: (id) =>
			read(() => {
				const row = selectOne.get(id);
				return row && clientOf(row);
			}),
		list: () => read(() => selectAll.all().map(clientOf)),
		create: (record) =>
			write(() => {
				if (insert.run(columnsOf(record)).changes === 0) return false;
				putSecrets(record);
				return true;
			}),
		replace: (record) =>
			write(() => {
				if (update.run(columnsOf(record)).changes === 0) return false;
				putSecrets(record);
				return true;
			}),
		delete: (id) =>
			write(() => {
				if (deleteClient.run(id).changes === 0) return false;
				leaveTeam.run(id);
				return true;
			}),
	};
}

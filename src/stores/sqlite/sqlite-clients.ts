import type { DatabaseSync } from 'node:sqlite';
import type { RecordTable } from '../contracts/record-changes.ts';
import type { ClientRecord } from '../contracts/records.ts';
import { integerOf, integerOrNullOf, textOf } from './database.ts';
import type { TeamChanges } from './sqlite-teams.ts';
import { prepareTable } from './versioned-records.ts';

export function createClientTable(database: DatabaseSync, teams: TeamChanges): RecordTable<string, ClientRecord, never> {
	const selectSecrets = database.prepare('SELECT hash, expires_at_ms FROM client_secrets WHERE client_id = ? ORDER BY position');
	const insertSecret = database.prepare('INSERT INTO client_secrets VALUES (?, ?, ?, ?)');
	const deleteSecrets = database.prepare('DELETE FROM client_secrets WHERE client_id = ?');
	const selectTeamOf = database.prepare('SELECT team_id FROM team_clients WHERE client_id = ?');
	const table = prepareTable<string, ClientRecord>(database, {
		table: 'clients',
		key: ['id'],
		rest: ['name', 'scopes', 'is_disabled', 'created_at_ms', 'updated_at_ms'],
		keyValues: (id) => [id],
		values: ({ id, name, scopes, isDisabled, createdAtMs, updatedAtMs }) => [
			id,
			name,
			scopes.join(' '),
			isDisabled ? 1 : 0,
			createdAtMs,
			updatedAtMs,
		],
		valueOf: (row) => ({
			id: textOf(row, 'id'),
			name: textOf(row, 'name'),
			secrets: selectSecrets
				.all(textOf(row, 'id'))
				.map((secret) => ({ hash: textOf(secret, 'hash'), expiresAtMs: integerOrNullOf(secret, 'expires_at_ms') })),
			scopes: textOf(row, 'scopes').split(' ').filter(Boolean),
			isDisabled: integerOf(row, 'is_disabled') === 1,
			createdAtMs: integerOf(row, 'created_at_ms'),
			updatedAtMs: integerOf(row, 'updated_at_ms'),
		}),
	});
	return {
		...table,
		kind: 'client',
		nameOf: (id) => id,
		keyOf: ({ id }) => id,
		conflictOf: () => undefined,
		put(client) {
			table.put(client);
			deleteSecrets.run(client.id);
			for (const [position, { hash, expiresAtMs }] of client.secrets.entries()) insertSecret.run(client.id, position, hash, expiresAtMs);
		},
		removing(id, terms) {
			const row = selectTeamOf.get(id);
			const team = row && teams.get(textOf(row, 'team_id'));
			if (team !== undefined) teams.replace({ ...team, clientIds: team.clientIds.filter((other) => other !== id) }, terms);
		},
	};
}

import type { Insertable, Selectable } from 'kysely';
import type { ClientRecord, Stored } from '../contracts/records.ts';
import { findTeamOf, type TeamChanges } from './postgres-teams.ts';
import type { ClientsTable } from './records-schema.ts';
import type { PostgresTable } from './versioned-records.ts';

export function createClientTable(teams: TeamChanges): PostgresTable<string, ClientRecord, never> {
	return {
		kind: 'client',
		nameOf: (id) => id,
		keyOf: ({ id }) => id,
		async find(db, id) {
			const row = await db.selectFrom('clients').selectAll().where('id', '=', id).executeTakeFirst();
			return row && clientOf(row);
		},
		list: async (db) => (await db.selectFrom('clients').selectAll().orderBy('id').execute()).map(clientOf),
		conflictOf: () => Promise.resolve(undefined),
		put(db, client) {
			const row = rowOf(client);
			return db
				.insertInto('clients')
				.values(row)
				.onConflict((conflict) => conflict.column('id').doUpdateSet(row))
				.execute();
		},
		remove: (db, id) => db.deleteFrom('clients').where('id', '=', id).execute(),
		async removing(transaction, id, terms) {
			const team = await findTeamOf(transaction.db, id);
			if (team === undefined) return;
			await teams.replace(transaction, { ...team, clientIds: team.clientIds.filter((other) => other !== id) }, terms);
		},
	};
}

function rowOf(record: Stored<ClientRecord>): Insertable<ClientsTable> {
	return {
		id: record.id,
		name: record.name,
		secrets: JSON.stringify(record.secrets.map(({ hash, expiresAtMs }) => ({ hash, expiresAtMs }))),
		scopes: [...record.scopes],
		is_disabled: record.isDisabled,
		created_at_ms: record.createdAtMs,
		updated_at_ms: record.updatedAtMs,
		version: record.version,
	};
}

function clientOf(row: Selectable<ClientsTable>): Stored<ClientRecord> {
	const { id, name, secrets, scopes, is_disabled, created_at_ms, updated_at_ms, version } = row;
	const times = { createdAtMs: Number(created_at_ms), updatedAtMs: Number(updated_at_ms) };
	return { id, name, secrets, scopes, isDisabled: is_disabled, ...times, version: Number(version) };
}

import { type Insertable, type Selectable, sql } from 'kysely';
import type { Team } from '../../core/team.ts';
import type { Budget, Stored } from '../contracts/records.ts';
import type { RecordsDb, TeamsTable } from './records-schema.ts';
import type { PostgresChanges, PostgresTable } from './versioned-records.ts';

export type TeamChanges = PostgresChanges<string, Team, 'client_taken'>;

export function createTeamTable(budgets: PostgresChanges<string, Budget, 'scope_taken'>): PostgresTable<string, Team, 'client_taken'> {
	return {
		kind: 'team',
		nameOf: (id) => id,
		keyOf: ({ id }) => id,
		async find(db, id) {
			const row = await db.selectFrom('teams').selectAll().where('id', '=', id).executeTakeFirst();
			return row && teamOf(row);
		},
		list: async (db) => (await db.selectFrom('teams').selectAll().orderBy('id').execute()).map(teamOf),
		async conflictOf(db, { id, clientIds }) {
			if (new Set(clientIds).size < clientIds.length) return 'client_taken';
			const elsewhere = await teamsWithAny(db, clientIds).where('id', '<>', id).executeTakeFirst();
			return elsewhere && 'client_taken';
		},
		put(db, team) {
			const row = rowOf(team);
			return db
				.insertInto('teams')
				.values(row)
				.onConflict((conflict) => conflict.column('id').doUpdateSet(row))
				.execute();
		},
		remove: (db, id) => db.deleteFrom('teams').where('id', '=', id).execute(),
		async removing(transaction, id, terms) {
			const owned = await transaction.db.selectFrom('budgets').select('id').where('team', '=', id).orderBy('id').execute();
			for (const budget of owned) await budgets.delete(transaction, budget.id, terms);
		},
	};
}

export async function findTeamOf(db: RecordsDb, clientId: string): Promise<Stored<Team> | undefined> {
	const row = await teamsWithAny(db, [clientId]).selectAll().executeTakeFirst();
	return row && teamOf(row);
}

function teamsWithAny(db: RecordsDb, clientIds: readonly string[]) {
	return db.selectFrom('teams').select('id').where(sql<boolean>`client_ids && ${clientIds}::text[]`);
}

function rowOf(team: Stored<Team>): Insertable<TeamsTable> {
	return {
		id: team.id,
		name: team.name,
		tier: team.tier,
		client_ids: [...team.clientIds],
		limits: team.limits === undefined ? null : JSON.stringify(team.limits),
		metadata: team.metadata === undefined ? null : JSON.stringify(team.metadata),
		created_at_ms: team.createdAtMs ?? null,
		updated_at_ms: team.updatedAtMs ?? null,
		version: team.version,
	};
}

function teamOf(row: Selectable<TeamsTable>): Stored<Team> {
	const { id, name, tier, client_ids, limits, metadata, created_at_ms, updated_at_ms, version } = row;
	return {
		id,
		name,
		tier,
		clientIds: client_ids,
		...(limits !== null && { limits }),
		...(metadata !== null && { metadata }),
		...(created_at_ms !== null && { createdAtMs: Number(created_at_ms) }),
		...(updated_at_ms !== null && { updatedAtMs: Number(updated_at_ms) }),
		version: Number(version),
	};
}

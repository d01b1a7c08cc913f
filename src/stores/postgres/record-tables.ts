import { type RawBuilder, sql } from 'kysely';
import type { Team } from '../../core/team.ts';
import type { Budget, ClientRecord, Stored } from '../contracts/records.ts';
import {
	budgetColumnsOf,
	budgetShape,
	clientShape,
	priceOverrideShape,
	type RecordShape,
	routingRuleShape,
	teamShape,
} from '../record-shapes.ts';
import { integerOf, type Row } from '../row.ts';
import type { RecordsDb } from './records-schema.ts';
import type { PostgresChanges, PostgresTable } from './versioned-records.ts';

function tableOf<Key, Value extends object>({
	kind,
	keyOf,
	nameOf,
	keyValues,
	valueOf,
	columns,
	key,
	table,
}: RecordShape<Key, Value>): PostgresTable<Key, Value, never> {
	const name = sql.table(`tollgate.${table}`);
	const keyNames = namesOf(key);
	const allNames = [...Object.keys(columns), 'version'];
	const changed = allNames
		.filter((column) => !key.includes(column))
		.map((column) => sql`${sql.ref(column)} = ${sql.ref(`excluded.${column}`)}`);
	const isKey = (wanted: Key): RawBuilder<unknown> => sql`(${keyNames}) = (${sql.join(keyValues(wanted))})`;
	const stored = (row: Row): Stored<Value> => ({ ...valueOf(row), version: integerOf(row, 'version') });
	return {
		kind,
		keyOf,
		nameOf,
		async find(db, wanted) {
			const [row] = (await sql<Row>`SELECT * FROM ${name} WHERE ${isKey(wanted)}`.execute(db)).rows;
			return row && stored(row);
		},
		list: async (db) => (await sql<Row>`SELECT * FROM ${name} ORDER BY ${keyNames}`.execute(db)).rows.map(stored),
		conflictOf: async () => undefined,
		put(db, value) {
			const values = [...Object.values(columns).map((read) => read(value)), value.version];
			return sql`INSERT INTO ${name} (${namesOf(allNames)}) VALUES (${sql.join(values)})
				ON CONFLICT (${keyNames}) DO UPDATE SET ${sql.join(changed)}`.execute(db);
		},
		remove: (db, unwanted) => sql`DELETE FROM ${name} WHERE ${isKey(unwanted)}`.execute(db),
	};
}

function namesOf(columns: readonly string[]): RawBuilder<unknown> {
	return sql.join(columns.map((column) => sql.ref(column)));
}

export const priceOverrideTable = tableOf(priceOverrideShape);
export const routingRuleTable = tableOf(routingRuleShape);

export const budgetTable: PostgresTable<string, Budget, 'scope_taken'> = {
	...tableOf(budgetShape),
	async conflictOf(db, budget) {
		const { team, model, period, scope } = budgetColumnsOf(budget);
		const { rows } = await sql`
			SELECT id FROM tollgate.budgets
			WHERE team = ${team} AND model IS NOT DISTINCT FROM ${model} AND period = ${period}
				AND scope IS NOT DISTINCT FROM ${scope} AND id <> ${budget.id} LIMIT 1`.execute(db);
		return rows.length === 0 ? undefined : 'scope_taken';
	},
};

export type TeamChanges = PostgresChanges<string, Team, 'client_taken'>;

const plainTeamTable = tableOf(teamShape);

export function createTeamTable(budgets: PostgresChanges<string, Budget, 'scope_taken'>): PostgresTable<string, Team, 'client_taken'> {
	return {
		...plainTeamTable,
		async conflictOf(db, { id, clientIds }) {
			const isTwice = new Set(clientIds).size < clientIds.length;
			return isTwice || (await teamsWithAny(db, clientIds)).some((team) => team !== id) ? 'client_taken' : undefined;
		},
		async removing(transaction, id, terms) {
			const { rows } = await sql<{ id: string }>`SELECT id FROM tollgate.budgets WHERE team = ${id} ORDER BY id`.execute(transaction.db);
			for (const budget of rows) await budgets.delete(transaction, budget.id, terms);
		},
	};
}

export function createClientTable(teams: TeamChanges): PostgresTable<string, ClientRecord, never> {
	return {
		...tableOf(clientShape),
		async removing(transaction, id, terms) {
			const [teamId] = await teamsWithAny(transaction.db, [id]);
			const team = teamId === undefined ? undefined : await plainTeamTable.find(transaction.db, teamId);
			if (team === undefined) return;
			await teams.replace(transaction, { ...team, clientIds: team.clientIds.filter((other) => other !== id) }, terms);
		},
	};
}

async function teamsWithAny(db: RecordsDb, clientIds: readonly string[]): Promise<readonly string[]> {
	const { rows } = await sql<{ id: string }>`SELECT id FROM tollgate.teams WHERE client_ids && ${clientIds}::text[]`.execute(db);
	return rows.map(({ id }) => id);
}

import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import type { Team } from '../../core/team.ts';
import type { ChangeRecorder, RecordChanges, RecordTable } from '../contracts/record-changes.ts';
import type { Budget, ClientRecord, Stored, VersionedStore } from '../contracts/records.ts';
import { budgetColumnsOf, budgetShape, type ColumnValue, clientShape, type RecordShape, teamShape } from '../record-shapes.ts';
import { integerOf, type Row, textOf } from '../row.ts';
import { read, type Write } from './database.ts';
import type { AuditTable } from './sqlite-audit.ts';

/** Creates a table of records. Columns in `apart` have their values in another table, where the expressions read them. */
export function createTable<Key, Value extends object>(
	database: DatabaseSync,
	shape: RecordShape<Key, Value>,
	apart: Readonly<Record<string, string>> = {},
): RecordTable<Key, Value, never> {
	const { kind, keyOf, nameOf, keyValues, valueOf, table, key } = shape;
	const columns = Object.entries(shape.columns).filter(([name]) => apart[name] === undefined);
	const names = [...columns.map(([name]) => name), 'version'];
	const isKey = key.map((name) => `${name} = ?`).join(' AND ');
	const select = ['*', ...Object.entries(apart).map(([name, expression]) => `${expression} AS ${name}`)].join(', ');
	const selectOne = database.prepare(`SELECT ${select} FROM ${table} WHERE ${isKey}`);
	const selectAll = database.prepare(`SELECT ${select} FROM ${table} ORDER BY ${key.join(', ')}`);
	const changed = names.filter((name) => !key.includes(name)).map((name) => `${name} = excluded.${name}`);
	const upsert = database.prepare(`
		INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})
		ON CONFLICT (${key.join(', ')}) DO UPDATE SET ${changed.join(', ')}`);
	const remove = database.prepare(`DELETE FROM ${table} WHERE ${isKey}`);
	selectOne.setReadBigInts(true);
	selectAll.setReadBigInts(true);
	const stored = (row: Row): Stored<Value> => ({ ...valueOf(row), version: integerOf(row, 'version') });
	return {
		kind,
		keyOf,
		nameOf,
		conflictOf: () => undefined,
		get(wanted) {
			const row = selectOne.get(...keyValues(wanted));
			return row && stored(row);
		},
		list: () => selectAll.all().map(stored),
		put: (value) => void upsert.run(...columns.map(([, valueIn]) => inputOf(valueIn(value))), value.version),
		remove: (unwanted) => void remove.run(...keyValues(unwanted)),
	};
}

function inputOf(value: ColumnValue): SQLInputValue {
	if (typeof value === 'boolean') return Number(value);
	return typeof value === 'object' && value !== null ? value.join(' ') : value;
}

export function createBudgetTable(database: DatabaseSync): RecordTable<string, Budget, 'scope_taken'> {
	const table = createTable(database, budgetShape);
	const selectSameScope = database.prepare('SELECT 1 FROM budgets WHERE team = ? AND model IS ? AND period = ? AND scope IS ? AND id <> ?');
	return {
		...table,
		conflictOf(budget) {
			const { team, model, period, scope } = budgetColumnsOf(budget);
			return selectSameScope.get(team, model, period, scope, budget.id) === undefined ? undefined : 'scope_taken';
		},
	};
}

export type TeamChanges = RecordChanges<string, Team, 'client_taken'>;

export function createTeamTable(
	database: DatabaseSync,
	budgets: RecordChanges<string, Budget, 'scope_taken'>,
): RecordTable<string, Team, 'client_taken'> {
	const selectTeamOf = database.prepare('SELECT team_id FROM team_clients WHERE client_id = ?');
	const insertClient = database.prepare('INSERT INTO team_clients VALUES (?, ?, ?)');
	const deleteClients = database.prepare('DELETE FROM team_clients WHERE team_id = ?');
	const selectBudgets = database.prepare('SELECT id FROM budgets WHERE team = ? ORDER BY id');
	const table = createTable(database, teamShape, {
		client_ids: '(SELECT json_group_array(client_id ORDER BY position) FROM team_clients WHERE team_id = teams.id)',
	});
	return {
		...table,
		conflictOf(team) {
			const isTwice = new Set(team.clientIds).size < team.clientIds.length;
			const isElsewhere = team.clientIds.some((id) => {
				const row = selectTeamOf.get(id);
				return row !== undefined && textOf(row, 'team_id') !== team.id;
			});
			return isTwice || isElsewhere ? 'client_taken' : undefined;
		},
		put(team) {
			table.put(team);
			deleteClients.run(team.id);
			for (const [position, id] of team.clientIds.entries()) insertClient.run(id, team.id, position);
		},
		removing(id, terms) {
			for (const row of selectBudgets.all(id)) budgets.delete(textOf(row, 'id'), terms);
		},
	};
}

export function createClientTable(database: DatabaseSync, teams: TeamChanges): RecordTable<string, ClientRecord, never> {
	const insertSecret = database.prepare('INSERT INTO client_secrets VALUES (?, ?, ?, ?)');
	const deleteSecrets = database.prepare('DELETE FROM client_secrets WHERE client_id = ?');
	const selectTeamOf = database.prepare('SELECT team_id FROM team_clients WHERE client_id = ?');
	const secret = "json_object('hash', hash, 'expiresAtMs', expires_at_ms)";
	const table = createTable(database, clientShape, {
		secrets: `(SELECT json_group_array(${secret} ORDER BY position) FROM client_secrets WHERE client_id = clients.id)`,
	});
	return {
		...table,
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

export function createChangeRecorder(database: DatabaseSync, audit: AuditTable): ChangeRecorder {
	const raise = database.prepare('UPDATE record_versions SET last = last + 1 RETURNING last');
	return { nextVersion: () => integerOf(raise.get() ?? {}, 'last'), append: audit.append };
}

export function storeOf<Key, Value, Conflict extends string>(
	records: RecordChanges<Key, Value, Conflict>,
	write: Write,
): VersionedStore<Key, Value, Conflict> {
	return {
		get: (key) => read(() => records.get(key)),
		list: () => read(() => records.list()),
		create: (value, terms) => write(() => records.create(value, terms)),
		replace: (value, terms) => write(() => records.replace(value, terms)),
		delete: (key, terms) => write(() => records.delete(key, terms)),
	};
}

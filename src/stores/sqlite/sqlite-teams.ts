import type { DatabaseSync } from 'node:sqlite';
import type { Team, TeamLimits } from '../../core/team.ts';
import type { RecordChanges, RecordTable } from '../contracts/record-changes.ts';
import type { Budget } from '../contracts/records.ts';
import { byName, decodeJson, membersFrom, numberFrom, orNull, textFrom } from '../decode.ts';
import type { Row } from './database.ts';
import { integerOrNullOf, textOf, textOrNullOf } from './database.ts';
import { prepareTable } from './versioned-records.ts';

export type TeamChanges = RecordChanges<string, Team, 'client_taken'>;

export function createTeamTable(
	database: DatabaseSync,
	budgets: RecordChanges<string, Budget, 'scope_taken'>,
): RecordTable<string, Team, 'client_taken'> {
	const selectClients = database.prepare('SELECT client_id FROM team_clients WHERE team_id = ? ORDER BY position');
	const selectTeamOf = database.prepare('SELECT team_id FROM team_clients WHERE client_id = ?');
	const insertClient = database.prepare('INSERT INTO team_clients VALUES (?, ?, ?)');
	const deleteClients = database.prepare('DELETE FROM team_clients WHERE team_id = ?');
	const selectBudgets = database.prepare('SELECT id FROM budgets WHERE team = ? ORDER BY id');
	const table = prepareTable<string, Team>(database, {
		table: 'teams',
		key: ['id'],
		rest: ['name', 'tier', 'limits', 'metadata', 'created_at_ms', 'updated_at_ms'],
		keyValues: (id) => [id],
		values: ({ id, name, tier, limits, metadata, createdAtMs = null, updatedAtMs = null }) => [
			id,
			name,
			tier,
			limits === undefined ? null : JSON.stringify(limits),
			metadata === undefined ? null : JSON.stringify(metadata),
			createdAtMs,
			updatedAtMs,
		],
		valueOf: (row) => ({
			id: textOf(row, 'id'),
			name: textOf(row, 'name'),
			tier: textOf(row, 'tier'),
			clientIds: selectClients.all(textOf(row, 'id')).map((client) => textOf(client, 'client_id')),
			...optionalsOf(row),
		}),
	});
	return {
		...table,
		kind: 'team',
		nameOf: (id) => id,
		keyOf: ({ id }) => id,
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

function limitsFrom(value: unknown): TeamLimits {
	const { requestsPerMinute, dailyTokens } = membersFrom(value);
	return {
		...(requestsPerMinute !== undefined && { requestsPerMinute: limitFrom(requestsPerMinute) }),
		...(dailyTokens !== undefined && { dailyTokens: limitFrom(dailyTokens) }),
	};
}

const limitFrom = orNull(numberFrom);

function optionalsOf(row: Row): Pick<Team, 'limits' | 'metadata' | 'createdAtMs' | 'updatedAtMs'> {
	const limits = textOrNullOf(row, 'limits');
	const metadata = textOrNullOf(row, 'metadata');
	const createdAtMs = integerOrNullOf(row, 'created_at_ms');
	const updatedAtMs = integerOrNullOf(row, 'updated_at_ms');
	return {
		...(limits !== null && { limits: decodeJson(limits, limitsFrom) }),
		...(metadata !== null && { metadata: decodeJson(metadata, byName(textFrom)) }),
		...(createdAtMs !== null && { createdAtMs }),
		...(updatedAtMs !== null && { updatedAtMs }),
	};
}

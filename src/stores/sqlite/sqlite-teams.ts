import type { DatabaseSync } from 'node:sqlite';
import type { Team } from '../../core/team.ts';
import type { TeamStore } from '../contracts/records.ts';
import type { Row, Write } from './database.ts';
import { read, textOf } from './database.ts';

export function createSqliteTeams(database: DatabaseSync, write: Write): TeamStore {
	const selectOne = database.prepare('SELECT * FROM teams WHERE id = ?');
	const selectAll = database.prepare('SELECT * FROM teams ORDER BY id');
	const selectClients = database.prepare('SELECT client_id FROM team_clients WHERE team_id = ? ORDER BY position');
	const selectTeamOf = database.prepare('SELECT team_id FROM team_clients WHERE client_id = ?');
	const insert = database.prepare('INSERT INTO teams VALUES (?, ?, ?)');
	const update = database.prepare('UPDATE teams SET name = ?, tier = ? WHERE id = ?');
	const insertClient = database.prepare('INSERT INTO team_clients VALUES (?, ?, ?)');
	const deleteClients = database.prepare('DELETE FROM team_clients WHERE team_id = ?');
	const deleteTeam = database.prepare('DELETE FROM teams WHERE id = ?');

	const teamOf = (row: Row): Team => ({
		id: textOf(row, 'id'),
		name: textOf(row, 'name'),
		tier: textOf(row, 'tier'),
		clientIds: selectClients.all(textOf(row, 'id')).map((client) => textOf(client, 'client_id')),
	});
	const isClientTaken = (team: Team): boolean =>
		new Set(team.clientIds).size < team.clientIds.length ||
		team.clientIds.some((id) => {
			const row = selectTeamOf.get(id);
			return row !== undefined && textOf(row, 'team_id') !== team.id;
		});
	const putClients = (team: Team): void => {
		deleteClients.run(team.id);
		for (const [position, id] of team.clientIds.entries()) insertClient.run(id, team.id, position);
	};

	return {
		get: (id) =>
			read(() => {
				const row = selectOne.get(id);
				return row && teamOf(row);
			}),
		list: () => read(() => selectAll.all().map(teamOf)),
		create: (team) =>
			write(() => {
				if (selectOne.get(team.id) !== undefined) return 'id_taken';
				if (isClientTaken(team)) return 'client_taken';
				insert.run(team.id, team.name, team.tier);
				putClients(team);
				return 'created';
			}),
		replace: (team) =>
			write(() => {
				if (selectOne.get(team.id) === undefined) return 'unknown';
				if (isClientTaken(team)) return 'client_taken';
				update.run(team.name, team.tier, team.id);
				putClients(team);
				return 'replaced';
			}),
		delete: (id) => write(() => deleteTeam.run(id).changes === 1),
	};
}

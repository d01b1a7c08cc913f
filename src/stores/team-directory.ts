/** Which team a client belongs to, answered from memory: a snapshot that follows the record store. */
import type { Log } from '../core/log.ts';
import type { Team } from '../core/team.ts';
import type { RecordStore } from './contracts/records.ts';

export interface TeamDirectory {
	teamOf(clientId: string): Team | undefined;
	/** Replaces the teams that the configuration names. */
	configure(teams: readonly Team[]): void;
	close(): void;
}

type TeamRecords = Pick<RecordStore, 'teams' | 'onChange'>;

/**
 * Teams of the configuration win over stored ones of the same id, and over stored claims on their clients.
 * @throws Fault `records_unavailable` when the store cannot be read at first.
 */
export async function openTeamDirectory(records: TeamRecords, configuredTeams: readonly Team[], log: Log): Promise<TeamDirectory> {
	let configured = configuredTeams;
	let stored = await records.teams.list();
	let byClient = indexByClient(stored, configured);
	let latestRead = 0;
	const follow = async (): Promise<void> => {
		const read = ++latestRead;
		const teams = await records.teams.list();
		// A slower read that began earlier knows less.
		if (read !== latestRead) return;
		stored = teams;
		byClient = indexByClient(stored, configured);
	};
	const stopListening = records.onChange(() => {
		follow().catch((cause: unknown) => log.error('teams could not be read; the last known ones stay in force', { cause: String(cause) }));
	});
	return {
		teamOf: (clientId) => byClient.get(clientId),
		configure(teams) {
			configured = teams;
			byClient = indexByClient(stored, configured);
		},
		close: stopListening,
	};
}

function indexByClient(stored: readonly Team[], configured: readonly Team[]): ReadonlyMap<string, Team> {
	const byClient = new Map<string, Team>();
	const pinned = new Set(configured.map((team) => team.id));
	const teams = [...stored.filter((team) => !pinned.has(team.id)), ...configured];
	for (const team of teams) for (const clientId of team.clientIds) byClient.set(clientId, team);
	return byClient;
}

import type { Team } from '../../core/team.ts';
import type { AdminPorts } from './admin-settings.ts';

export interface TeamLookup {
	/** The team as calls meet it: of the configuration, registered, or a client of no team on its own. */
	find(id: string): Promise<Team | undefined>;
	/** Whether there is such a team, or was: one that has usage counts. */
	isKnown(id: string): Promise<boolean>;
}

export function createTeamLookup({
	records,
	ledger,
	configured,
	clock,
}: Pick<AdminPorts, 'records' | 'ledger' | 'configured' | 'clock'>): TeamLookup {
	const find = async (id: string): Promise<Team | undefined> => {
		const { pinnedTeams, pinnedClients, unregisteredClients } = configured();
		const registered = pinnedTeams.find((team) => team.id === id) ?? (await records.teams.get(id));
		if (registered !== undefined || unregisteredClients === 'reject') return registered;
		const isClient = pinnedClients.some((client) => client.id === id) || (await records.clients.get(id)) !== undefined;
		if (!isClient) return undefined;
		const teams = [...pinnedTeams, ...(await records.teams.list())];
		if (teams.some(({ clientIds }) => clientIds.includes(id))) return undefined;
		return { id, name: id, tier: unregisteredClients.tier, clientIds: [id] };
	};
	const hasUsage = async (team: string): Promise<boolean> => {
		const { rows } = await ledger.list({ team, limit: 1 });
		// Rows are pruned, sums stay.
		return rows.length > 0 || (await ledger.summarize({ fromMs: 0, toMs: clock.nowMs(), period: 'month', team })).length > 0;
	};
	return { find, isKnown: async (id) => (await find(id)) !== undefined || (await hasUsage(id)) };
}

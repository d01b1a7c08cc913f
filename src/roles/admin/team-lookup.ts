import type { Team } from '../../core/team.ts';
import type { AdminPorts } from './admin-settings.ts';
import { whileSame } from './page.ts';

export interface TeamLookup {
	/** The team as calls meet it: of the configuration, registered, or a client of no team on its own. */
	find(id: string): Promise<Team | undefined>;
	/** Whether there is such a team, or was: one that has usage counts. */
	isKnown(id: string): Promise<boolean>;
	/** Ids of teams by the ids of the clients that they name. Teams of the configuration go before registered ones. */
	teamsByClient(): Promise<ReadonlyMap<string, string>>;
}

export function createTeamLookup({
	records,
	ledger,
	configured,
	clock,
}: Pick<AdminPorts, 'records' | 'ledger' | 'configured' | 'clock'>): TeamLookup {
	const byClient = whileSame(
		(registered: readonly Team[], pinned: readonly Team[]): ReadonlyMap<string, string> =>
			new Map([...registered, ...pinned].flatMap(({ id, clientIds }) => clientIds.map((clientId) => [clientId, id] as const))),
	);
	const teamsByClient = async () => byClient(await records.teams.list(), configured().pinnedTeams);
	const find = async (id: string): Promise<Team | undefined> => {
		const { pinnedTeams, pinnedClients, unregisteredClients } = configured();
		const registered = pinnedTeams.find((team) => team.id === id) ?? (await records.teams.get(id));
		if (registered !== undefined || unregisteredClients === 'reject') return registered;
		const isClient = pinnedClients.some((client) => client.id === id) || (await records.clients.get(id)) !== undefined;
		if (!isClient) return undefined;
		if ((await teamsByClient()).has(id)) return undefined;
		return { id, name: id, tier: unregisteredClients.tier, clientIds: [id] };
	};
	const hasUsage = async (team: string): Promise<boolean> => {
		const { rows } = await ledger.list({ team, limit: 1 });
		// Rows are pruned, sums stay.
		return rows.length > 0 || (await ledger.summarize({ fromMs: 0, toMs: clock.nowMs(), period: 'month', team })).length > 0;
	};
	return { find, isKnown: async (id) => (await find(id)) !== undefined || (await hasUsage(id)), teamsByClient };
}

import type { Team } from '../../core/team.ts';
import type { AdminPorts } from './admin-settings.ts';
import { whileSame } from './page.ts';

export interface TeamLookup {
	/** Finds the team of requests: from the configuration, registered, or an unregistered client as its own team. */
	find(id: string): Promise<Team | undefined>;
	/** Returns true if the team exists or existed, which its usage shows. */
	isKnown(id: string): Promise<boolean>;
	/** Returns team ids by client id. Teams of the configuration take precedence over registered ones. */
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
	const teamsByClient = async () => byClient(await records.teams.list(), configured().configTeams);
	const find = async (id: string): Promise<Team | undefined> => {
		const { configTeams, configClients, unregisteredClients } = configured();
		const registered = configTeams.find((team) => team.id === id) ?? (await records.teams.get(id));
		if (registered !== undefined || unregisteredClients === 'reject') return registered;
		const isClient = configClients.some((client) => client.id === id) || (await records.clients.get(id)) !== undefined;
		if (!isClient) return undefined;
		if ((await teamsByClient()).has(id)) return undefined;
		return { id, name: id, tier: unregisteredClients.tier, clientIds: [id] };
	};
	const hasUsage = async (team: string): Promise<boolean> => {
		const { rows } = await ledger.list({ team, limit: 1 });
		// Ledger entries are pruned, sums stay.
		return rows.length > 0 || (await ledger.summarize({ fromMs: 0, toMs: clock.nowMs(), period: 'month', team })).length > 0;
	};
	return { find, isKnown: async (id) => (await find(id)) !== undefined || (await hasUsage(id)), teamsByClient };
}

import type { ClientOperations, ConfigOptions } from '../cli/environment.ts';
import { loadConfig } from '../config/load.ts';
import type { Log } from '../core/log.ts';
import { Refusal } from '../core/refusal.ts';
import { systemClock } from '../io/system-clock.ts';
import { createClientsAdministration } from '../stores/contracts/clients-administration.ts';
import type { TeamStore } from '../stores/contracts/records.ts';
import { type MigratedPart, migrateStores, openRecords } from './open-stores.ts';

/** For commands, whose output is all that their user wants to see. */
export const silentLog: Log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

/** The clients of the configured store, which a running server may have open too. */
export async function openClients({ configPath }: ConfigOptions): Promise<ClientOperations> {
	const { config } = loadConfig({ configPath });
	const records = await openRecords(config, { clock: systemClock, log: silentLog });
	const clients = createClientsAdministration({ clients: records.clients, clock: systemClock });
	return {
		async create({ id, name, scopes, team }) {
			if (team !== undefined && config.teams.registered.some((registered) => registered.id === team)) {
				const message = `team: \`${team}\` is in the configuration: add the client to its client_ids there`;
				throw new Refusal('field_invalid', { param: 'team', message });
			}
			// The server would answer for the configured one, and this one's secret would never work.
			if (config.identity.clients.some((client) => client.id === id)) return 'id_taken';
			const created = await clients.createClient({ id, name: name ?? id ?? 'client', scopes });
			if (created === 'id_taken') return created;
			const { record, secret } = created;
			if (team !== undefined) await joinTeam(records.teams, team, record.id);
			return { id: record.id, secret };
		},
		list: () => clients.listClients(),
		rotate: (id, overlapSeconds) => clients.rotateSecret(id, overlapSeconds),
		delete: (id) => clients.deleteClient(id),
		close: () => records.close(),
	};
}

/** @throws StoreUnusable. */
export function migrate({ configPath }: ConfigOptions): Promise<readonly MigratedPart[]> {
	return migrateStores(loadConfig({ configPath }).config, { clock: systemClock, log: silentLog });
}

/** The tier of a team that is made because its first client joins it. */
const newTeamTier = 'sandbox';

/** Somebody else may change the team at the same time: tried again then. */
async function joinTeam(teams: TeamStore, id: string, clientId: string): Promise<void> {
	for (let attempt = 0; attempt < 10; attempt++) {
		const author = { actor: 'cli', atMs: systemClock.nowMs() };
		const known = await teams.get(id);
		const outcome =
			known === undefined
				? await teams.create({ id, name: id, tier: newTeamTier, clientIds: [clientId] }, { author })
				: await teams.replace({ ...known, clientIds: [...known.clientIds, clientId] }, { author, ifVersion: known.version });
		if (outcome === 'created' || outcome === 'replaced') return;
		if (outcome === 'client_taken') {
			throw new Refusal('field_invalid', { param: 'id', message: `\`${clientId}\` belongs to a team already` });
		}
	}
	throw new Error(`the team ${id} changes all the time: the client was made, but is in no team`);
}

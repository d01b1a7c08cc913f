import type { Clock } from '../core/clock.ts';
import { createClientsAdministration } from '../stores/contracts/clients-administration.ts';
import type { RecordStore } from '../stores/contracts/records.ts';

export const demoClientId = 'demo';
const demoTeamId = 'demo-team';

export interface DemoClient {
	readonly id: string;
	/** Undefined when it was made, and shown, at an earlier start. */
	readonly secret: string | undefined;
}

/** The team and client of the trial, made at the first start on a data directory. */
export async function ensureDemoClient(records: RecordStore, clock: Clock): Promise<DemoClient> {
	const clients = createClientsAdministration({ clients: records.clients, clock });
	const created = await clients.createClient({ id: demoClientId, name: 'Demo client', scopes: ['invoke', 'admin'] });
	await records.teams.create({ id: demoTeamId, name: 'Demo team', tier: 'premium', clientIds: [demoClientId] });
	return { id: demoClientId, secret: created === 'id_taken' ? undefined : created.secret };
}

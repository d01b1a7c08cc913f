import type { Caller } from '../../../core/caller.ts';
import { Refusal } from '../../../core/refusal.ts';
import type { Team } from '../../../core/team.ts';
import type { GatewaySettings, TeamDirectory } from '../gateway-settings.ts';

/** The caller's team; a client without one is its own, or refused. @throws Refusal `client_unregistered`. */
export function identifyTeam({ clientId }: Caller, { unregisteredClients }: GatewaySettings, teams: Pick<TeamDirectory, 'teamOf'>): Team {
	const team = teams.teamOf(clientId);
	if (team !== undefined) return team;
	if (unregisteredClients === 'reject') throw new Refusal('client_unregistered');
	return { id: clientId, name: clientId, tier: unregisteredClients.tier, clientIds: [clientId] };
}

import { attributesHeader, readAttributes } from '../../../core/attributes.ts';
import type { Caller, CallerGrant } from '../../../core/caller.ts';
import type { HttpRequest } from '../../../core/handler.ts';
import { Rejection } from '../../../core/rejection.ts';
import type { Team } from '../../../core/team.ts';
import { readUnverifiedCaller } from '../../../policy/access/claims.ts';
import { requireScope } from '../../../policy/access/require-scope.ts';
import { readAccessToken } from '../../../policy/access/token-headers.ts';
import type { GatewayDeps } from '../gateway-deps.ts';
import type { GatewaySettings, TeamDirectory } from '../gateway-settings.ts';
import type { RequestRecorder } from '../request-scope/request-recorder.ts';

/**
 * Identifies the client. An edge in this process has verified it. Otherwise the access token is verified here, or only read if a trusted
 * load balancer has verified it.
 * @throws `Rejection` `token_missing`, `token_invalid`, `scope_missing`; `UpstreamError` `key_set_unavailable`.
 */
export function identifyCaller(request: HttpRequest, { settings, ports, invokeScope, readCaller }: GatewayDeps): Caller | Promise<Caller> {
	if (request.caller !== undefined) return request.caller;
	const accessToken = readAccessToken(request.headers, settings.tokenHeaders);
	const caller = settings.trustEdge
		? readUnverifiedCaller(accessToken, settings.attributesFromClaims, readCaller)
		: ports.verifier.verify(accessToken);
	return caller instanceof Promise ? caller.then((verified) => requireScope(verified, invokeScope)) : requireScope(caller, invokeScope);
}

/** Identifies the client's team, and records it for the log line and the response headers. @throws errors of `identifyTeam`. */
export function noteTeam(caller: Caller, recorder: RequestRecorder, { settings, ports }: GatewayDeps): Team {
	recorder.identifyClient(caller.clientId);
	const team = identifyTeam(caller, settings, ports.teams);
	recorder.identifyTeam(team, caller.grant !== undefined && caller.grant.team !== null);
	return team;
}

/**
 * Records the attributes of a request: those of the access token, and those that the client sets.
 * @throws `Rejection` `attributes_not_allowed`, `field_invalid`.
 */
export function noteAttributes(
	{ headers }: HttpRequest,
	{ clientId, attributes }: Caller,
	recorder: RequestRecorder,
	{ settings, ports }: GatewayDeps,
): void {
	const given = headers[attributesHeader];
	if (given === undefined) {
		if (attributes !== undefined) recorder.attribute(attributes);
		return;
	}
	const configured = settings.clientAttributes;
	const isAllowed =
		configured !== undefined && Object.hasOwn(configured, clientId) ? configured[clientId] : ports.teams.canSetAttributes(clientId);
	if (isAllowed !== true) {
		throw new Rejection('attributes_not_allowed', {
			param: attributesHeader,
			message: `Client \`${clientId}\` may not send \`${attributesHeader}\`: omit it, or ask an administrator to set \`may_set_attributes\` for the client`,
		});
	}
	recorder.attribute(readAttributes(Array.isArray(given) ? given.join(',') : given, attributes));
}

/** The part of a caller that determines its team. */
export interface IdentifiedClient {
	readonly clientId: string;
	readonly grant?: Pick<CallerGrant, 'team'> | undefined;
}

/** Returns the client's team. An unregistered client is its own team, or rejected. @throws `Rejection` `client_unregistered`. */
export function identifyTeam(
	{ clientId, grant }: IdentifiedClient,
	{ unregisteredClients }: GatewaySettings,
	teams: Pick<TeamDirectory, 'teamOf' | 'team'>,
): Team {
	if (grant !== undefined && grant.team !== null) return teamOfRule(grant.team, teams);
	const team = teams.teamOf(clientId);
	if (team !== undefined) return team;
	if (unregisteredClients === 'reject') throw new Rejection('client_unregistered');
	// Client ids can come from a foreign issuer, which must not be able to spend a team's budgets.
	if (teams.team(clientId) !== undefined) {
		throw new Rejection('client_unregistered', {
			message: `Client id ${clientId} equals the id of a team that the client is not in: ask an administrator to add the client to a team`,
		});
	}
	return { id: clientId, name: clientId, tier: unregisteredClients.tier, clientIds: [clientId] };
}

/** @throws `Rejection` `client_unregistered`, because a team without a registration has no limits. */
function teamOfRule(id: string, teams: Pick<TeamDirectory, 'team'>): Team {
	const team = teams.team(id);
	if (team !== undefined) return team;
	throw new Rejection('client_unregistered', {
		message: `Team ${id}, which \`access.rules\` gives to the client, does not exist: ask an administrator to create it`,
	});
}

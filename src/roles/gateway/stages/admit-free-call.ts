import type { Team } from '../../../core/team.ts';
import type { OwnLimit } from '../../../wire/endpoints/endpoint.ts';
import type { CallScope } from '../call/call-scope.ts';
import { FreePermit } from '../call/free-permit.ts';
import type { GatewayParts } from '../gateway-parts.ts';
import { noteLimits } from '../note-limits.ts';
import { takeLimits } from './admit-call.ts';
import type { PreparedCall } from './prepare-call.ts';

/** Takes one of the endpoint's own limit, whose counter has a name that no registered team has. @throws LimitRefusal */
export async function admitFreeCall(
	{ request: { id }, target }: PreparedCall,
	{ counter, requestsFactor }: OwnLimit,
	team: Team,
	scope: CallScope,
	parts: GatewayParts,
): Promise<FreePermit> {
	const { requestsPerMinute, ...others } = parts.terms.termsOf(team, []);
	const terms = {
		...others,
		requestsPerMinute: requestsPerMinute === null ? null : requestsPerMinute * requestsFactor,
		dailyTokens: null,
		budgets: [],
	};
	const row = { id, team: `:${counter}:${team.id}` };
	const usual = parts.work.usual.of(team.id, target.model);
	try {
		await takeLimits(row, { terms, holds: [], reservedTokens: 0, usual }, parts.settings.timeouts.totalMs, scope.record, parts);
	} finally {
		// The response tells of the team's own limits.
		scope.record.limitHeaders = undefined;
	}
	const permit = new FreePermit({ id, team: team.id, counter: row.team }, scope, parts);
	await noteLimits(scope.record, parts);
	return permit;
}

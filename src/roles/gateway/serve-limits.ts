import type { HttpRequest, HttpResponse } from '../../core/handler.ts';
import { describeLimits } from '../../policy/limits/describe-limits.ts';
import type { GatewayDeps } from './gateway-deps.ts';
import { responseHeaders } from './gateway-headers.ts';
import type { RequestRecorder } from './request-scope/request-recorder.ts';
import { unlessUnreachable } from './stages/admit-request.ts';
import { identifyCaller, noteTeam } from './stages/identify-caller.ts';

/** Serves the remaining limits and budgets of the client's team, without counting the request. @throws UpstreamError `records_unavailable`. */
export async function serveLimits(request: HttpRequest, recorder: RequestRecorder, deps: GatewayDeps): Promise<HttpResponse> {
	const { ports } = deps;
	const caller = await identifyCaller(request, deps);
	const team = noteTeam(caller, recorder, deps);
	const terms = deps.terms.termsOf(team, ports.teams.budgetsOf(team.id), ports.clock.nowMs());
	const reading = await ports.admission.read(team.id, terms.budgets, terms.limits).catch(unlessUnreachable);
	recorder.limits = { rates: terms.limits, reading };
	const headers = { ...responseHeaders(request, recorder, ports.clock), 'content-type': 'application/json', 'cache-control': 'no-store' };
	return { status: 200, headers, body: JSON.stringify(describeLimits({ team: team.id, ...terms }, reading)), record: recorder.record };
}

/** Adds limit headers to responses that counted toward no limit. They are omitted while the counters are unavailable. */
export async function noteLimits(recorder: RequestRecorder, { ports, terms }: GatewayDeps): Promise<void> {
	const { team, record } = recorder;
	if (team === undefined || recorder.limits !== undefined || record.isUncounted === true) return;
	try {
		recorder.limits = { rates: terms.termsOf(team, [], ports.clock.nowMs()).limits, reading: await ports.admission.read(team.id, []) };
	} catch (cause) {
		ports.log.debug('the counters of a team could not be read', { team: team.id, cause });
	}
}

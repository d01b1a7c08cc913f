import type { HttpRequest, HttpResponse } from '../../core/handler.ts';
import { describeLimits } from '../../policy/limits/describe-limits.ts';
import { rateLimitHeaders } from '../../policy/limits/rate-limit-headers.ts';
import { periodOf } from '../../policy/limits/utc-time.ts';
import { answerHeaders } from './answer-headers.ts';
import type { RequestRecord } from './call/request-record.ts';
import type { GatewayParts } from './gateway-parts.ts';
import { unlessUnreachable } from './stages/admit-call.ts';
import { identifyCaller } from './stages/identify-caller.ts';
import { noteTeam } from './stages/identify-team.ts';

/** What the caller's team may still do, of all its limits and budgets; counts as no request. @throws Fault `records_unavailable`. */
export async function serveLimits(request: HttpRequest, record: RequestRecord, parts: GatewayParts): Promise<HttpResponse> {
	const { ports } = parts;
	const caller = await identifyCaller(request, parts);
	const team = noteTeam(caller, record, parts);
	const terms = parts.terms.termsOf(team, ports.teams.budgetsOf(team.id));
	const period = periodOf(ports.clock.nowMs());
	const budgets = terms.budgets.map(({ budget }) => ({ budget, period }));
	const reading = await ports.admission.read(team.id, budgets).catch(unlessUnreachable);
	record.limitHeaders = rateLimitHeaders(terms, reading);
	const headers = { ...answerHeaders(request, record, ports.clock), 'content-type': 'application/json', 'cache-control': 'no-store' };
	return { status: 200, headers, body: JSON.stringify(describeLimits({ team: team.id, ...terms }, reading)), facts: record.facts };
}

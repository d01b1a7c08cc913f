import { rateLimitHeaders } from '../../policy/limits/rate-limit-headers.ts';
import type { GatewayFacts } from './gateway-facts.ts';
import type { GatewayParts } from './gateway-parts.ts';

/** For answers to requests that took nothing of their team's limits. While the counters are away such answers do without. */
export async function noteLimits(facts: GatewayFacts, { ports, terms }: GatewayParts): Promise<void> {
	const { callerTeam: team } = facts;
	if (team === undefined || facts.limitHeaders !== undefined || facts.isUncounted === true) return;
	try {
		facts.limitHeaders = rateLimitHeaders(terms.termsOf(team, []), await ports.admission.read(team.id, []));
	} catch (cause) {
		ports.log.debug('the counters of a team could not be read', { team: team.id, cause });
	}
}

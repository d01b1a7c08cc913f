import { rateLimitHeaders } from '../../policy/limits/rate-limit-headers.ts';
import type { RequestRecord } from './call/request-record.ts';
import type { GatewayParts } from './gateway-parts.ts';

/** For answers to requests that took nothing of their team's limits. While the counters are away such answers do without. */
export async function noteLimits(record: RequestRecord, { ports, terms }: GatewayParts): Promise<void> {
	const { team, facts } = record;
	if (team === undefined || record.limitHeaders !== undefined || facts.isUncounted === true) return;
	try {
		record.limitHeaders = rateLimitHeaders(terms.termsOf(team, []), await ports.admission.read(team.id, []));
	} catch (cause) {
		ports.log.debug('the counters of a team could not be read', { team: team.id, cause });
	}
}

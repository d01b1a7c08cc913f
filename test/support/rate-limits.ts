import type { RateLimit } from '../../src/core/counters.ts';
import type { TeamLimits } from '../../src/core/team.ts';
import { resolveRates } from '../../src/policy/limits/rate-limits.ts';

/** Returns the counters of these limits, as an admission names them. */
export function rateLimits(limits: TeamLimits): readonly RateLimit[] {
	return resolveRates(limits, undefined).limits;
}

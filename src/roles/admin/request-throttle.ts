import { BoundedMap } from '../../core/bounded-map.ts';
import type { Clock } from '../../core/clock.ts';
import { Refusal } from '../../core/refusal.ts';
import { msToNextMinute } from '../../policy/limits/utc-time.ts';

const mostRemembered = 10_000;

interface Count {
	readonly minute: number;
	requests: number;
}

/**
 * Counts requests by requester and UTC minute; of more than 10,000 requesters the longest known are forgotten.
 * @param maxPerMinute asked anew each time. @param describe the refusal, given the limit.
 * @returns what counts one. @throws Refusal `admin_rate_exceeded`.
 */
export function createRequestThrottle(
	clock: Clock,
	maxPerMinute: () => number,
	describe: (limit: number) => string,
): (requester: string) => void {
	const counts = new BoundedMap<string, Count>(mostRemembered);
	return (requester) => {
		const nowMs = clock.nowMs();
		const minute = Math.floor(nowMs / 60_000);
		let count = counts.get(requester);
		if (count?.minute !== minute) {
			count = { minute, requests: 0 };
			counts.set(requester, count);
		}
		const limit = maxPerMinute();
		if (count.requests >= limit) {
			throw new Refusal('admin_rate_exceeded', {
				message: describe(limit),
				retryAfterSeconds: Math.ceil(msToNextMinute(nowMs) / 1000),
			});
		}
		count.requests++;
	};
}

import type { Clock } from '../../core/clock.ts';
import { Refusal } from '../../core/refusal.ts';
import { msToNextMinute } from '../../policy/limits/utc-time.ts';
import { BoundedMap } from './bounded-map.ts';

const mostClients = 10_000;

interface Count {
	readonly minute: number;
	requests: number;
}

/** Counts requests by client and UTC minute. @returns what counts one. @throws Refusal `admin_rate_exceeded`. */
export function createRequestThrottle(clock: Clock, maxPerMinute: number): (clientId: string) => void {
	const counts = new BoundedMap<string, Count>(mostClients);
	return (clientId) => {
		const nowMs = clock.nowMs();
		const minute = Math.floor(nowMs / 60_000);
		let count = counts.get(clientId);
		if (count?.minute !== minute) {
			count = { minute, requests: 0 };
			counts.set(clientId, count);
		}
		if (count.requests >= maxPerMinute) {
			throw new Refusal('admin_rate_exceeded', {
				message: `The client has made its ${maxPerMinute} admin requests of this minute`,
				retryAfterSeconds: Math.ceil(msToNextMinute(nowMs) / 1000),
			});
		}
		count.requests++;
	};
}

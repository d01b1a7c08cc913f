import { randomFillSync } from 'node:crypto';
import type { Clock } from '../core/clock.ts';

const randomBytesPerId = 10;
const idsPerFill = 400;

/**
 * Creates ids such as `req_019a2b3c4d5e` followed by 20 hexadecimal digits. Milliseconds come first, so that ids sort by time. The 80
 * random bits prevent collisions between processes and hide the number of requests.
 */
export function createRequestIds(clock: Clock): () => string {
	const pool = Buffer.allocUnsafeSlow(randomBytesPerId * idsPerFill);
	let used = pool.length;
	let lastMs = -1;
	let prefix = '';
	return () => {
		const nowMs = clock.nowMs();
		if (nowMs !== lastMs) {
			lastMs = nowMs;
			prefix = `req_${nowMs.toString(16).padStart(12, '0')}`;
		}
		if (used === pool.length) {
			randomFillSync(pool);
			used = 0;
		}
		used += randomBytesPerId;
		// Flattens the concatenation without changing a letter: V8 serializes concatenated strings to JSON at half the speed.
		return (prefix + pool.toString('hex', used - randomBytesPerId, used)).toLowerCase();
	};
}

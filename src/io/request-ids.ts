import { randomFillSync } from 'node:crypto';
import type { Clock } from '../core/clock.ts';

const randomBytesPerId = 10;
const idsPerFill = 400;

/**
 * Makes ids such as `req_019a2b3c4d5e` followed by 20 hexadecimal digits: milliseconds first, so that they sort by time,
 * then 80 random bits, so that no two processes ever meet and nobody counts another's requests.
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
		// Changes no letter, but makes one text of the two: the engine writes a sum of texts into lines of JSON at half the speed.
		return (prefix + pool.toString('hex', used - randomBytesPerId, used)).toLowerCase();
	};
}

import { Redis } from 'ioredis';
import { systemClock } from '../../src/io/system-clock.ts';
import { type AdmissionSubject, contractStartMs } from '../../src/stores/contracts/admission.contract.ts';
import { openRedisAdmission } from '../../src/stores/redis/redis-admission.ts';
import { createRecordingLog } from './recording-log.ts';
import type { RedisServer } from './redis-server.ts';

/** Two clients of an emptied server that reads its time from a key. */
export async function openSteeredRedis(server: Pick<RedisServer, 'url'>): Promise<AdmissionSubject> {
	const steering = new Redis(server.url);
	await steering.flushdb();
	await steering.set('clock', contractStartMs);
	const settings = { url: server.url, clockLua: `tonumber(redis.call('GET', 'clock'))` };
	const open = () => openRedisAdmission(settings, { clock: systemClock, log: createRecordingLog() });
	const [one, other] = await Promise.all([open(), open()]);
	return {
		stores: [one, other],
		setNow: async (nowMs) => void (await steering.set('clock', nowMs)),
		async dispose() {
			await Promise.all([one.close(), other.close(), steering.quit()]);
		},
	};
}

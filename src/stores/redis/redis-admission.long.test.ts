import { afterAll, beforeAll } from 'vitest';
import { openSteeredRedis } from '../../../test/support/redis-admission-subject.ts';
import { type RedisDatabase, shareRedis } from '../../../test/support/shared-stores.ts';
import { admissionContract } from '../contracts/admission.contract.ts';

let server: RedisDatabase;

beforeAll(async () => {
	server = await shareRedis();
});
afterAll(() => server.stop());

// About 120,000 operations.
admissionContract('Redis, for long', () => openSteeredRedis(server), { modelRuns: 4000 });

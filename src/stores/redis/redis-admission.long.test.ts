import { afterAll, beforeAll } from 'vitest';
import { openSteeredRedis } from '../../../test/support/redis-admission-subject.ts';
import { type RedisServer, startRedis } from '../../../test/support/redis-server.ts';
import { admissionContract } from '../contracts/admission.contract.ts';

let server: RedisServer;

beforeAll(async () => {
	server = await startRedis();
});
afterAll(() => server.stop());

// About 120,000 operations.
admissionContract('Redis, for long', () => openSteeredRedis(server), { modelRuns: 4000 });

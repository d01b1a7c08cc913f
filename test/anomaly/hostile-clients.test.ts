import { expect, test } from 'vitest';
import { megabyte } from '../support/process-memory.ts';
import { attackSlowly, neverRead } from './hostile-clients.contract.ts';

test('300 slow clients are closed, a good one sees nothing of them', async () => {
	const { goodRequests } = await attackSlowly({ each: 100, limitMs: 1000, maxGrowthBytes: 64 * megabyte });
	expect(goodRequests).toBeGreaterThan(10);
}, 60_000);

test('100 streams of 10 MB that are not read are closed, and buffer at most a seventh', async () => {
	const { growthBytes } = await neverRead({ readers: 100, stalledMs: 1000, maxGrowthBytes: 150 * megabyte });
	expect(growthBytes).toBeLessThan(150 * megabyte);
}, 60_000);

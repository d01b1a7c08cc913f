import { expect, test } from 'vitest';
import { restartUnderLoad } from './rolling-restart.contract.ts';

test('three gateways, ten times, 100 requests a second, 50 streams', async () => {
	expect(await restartUnderLoad({ gateways: 3, rounds: 10, requestsPerSecond: 100, streams: 50 })).toEqual([]);
}, 900_000);

import { expect, test } from 'vitest';
import { restartUnderLoad } from './rolling-restart.contract.ts';

test('two gateways are restarted in turn: no request fails, no stream is cut', async () => {
	expect(await restartUnderLoad({ gateways: 2, rounds: 1, requestsPerSecond: 20, streams: 5 })).toEqual([]);
}, 60_000);

import { expect, onTestFinished, test } from 'vitest';
import type { UpstreamRequest } from '../../core/upstream.ts';
import { systemClock } from '../system-clock.ts';
import { createHttpClient } from './http-client.ts';

const log = { error: () => undefined, warn: () => undefined, info: () => undefined, debug: () => undefined };

test('an undici that cannot be loaded fails requests, and neither the process nor a stop', async () => {
	const unhandled: unknown[] = [];
	const note = (cause: unknown): void => void unhandled.push(cause);
	process.on('unhandledRejection', note);
	onTestFinished(() => {
		process.off('unhandledRejection', note);
	});
	const options = { clock: systemClock, log, maxConnectionsPerOrigin: 1, isAllowedAddress: () => true };
	const client = createHttpClient('undici', options, () => Promise.reject(new Error('damaged installation')));
	// The runtime has reported unhandled rejections by then.
	await new Promise((resolve) => setTimeout(resolve, 20));
	await expect(client.send({ origin: 'http://127.0.0.1:1' } as UpstreamRequest)).rejects.toThrow('damaged installation');
	client.close();
	await new Promise((resolve) => setTimeout(resolve, 20));
	expect(unhandled).toEqual([]);
});

import { expect, test } from 'vitest';
import { print } from '../support/accounting-print.ts';
import { megabyte } from '../support/process-memory.ts';
import { attackSlowly, neverRead } from './hostile-clients.contract.ts';

test('1,500 slow clients for a minute', async () => {
	const limitMs = 60_000;
	const report = await attackSlowly({ each: 500, limitMs, maxGrowthBytes: 64 * megabyte });
	print(JSON.stringify(report));
	// Tolerance: the last connection opens some seconds after the first.
	expect(report.allClosedMs).toBeLessThan(limitMs + 12_000);
}, 300_000);

test('300 streams of 10 MB that are not read', async () => {
	const report = await neverRead({ readers: 300, stalledMs: 60_000, maxGrowthBytes: 150 * megabyte });
	print(JSON.stringify(report));
	expect(report.growthBytes).toBeLessThan(150 * megabyte);
}, 300_000);

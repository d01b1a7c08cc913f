import { expect, test } from 'vitest';
import { print } from '../support/accounting-print.ts';
import { smuggle, startHaproxy, startNginx } from './hostile-hops.contract.ts';

test.each([
	['nginx', startNginx],
	['HAProxy', startHaproxy],
] as const)(
	'500 mutated requests through %s',
	async (name, startFront) => {
		const seed = Date.now() >>> 0;
		const report = await smuggle(startFront, 500, seed);
		print(JSON.stringify({ name, seed, ...report }));
		expect(report.passed).toBeGreaterThan(50);
	},
	600_000,
);

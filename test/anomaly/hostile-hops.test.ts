import { expect, test } from 'vitest';
import { smuggle, startHaproxy, startNginx } from './hostile-hops.contract.ts';

test.each([
	['nginx', startNginx],
	['HAProxy', startHaproxy],
] as const)(
	'sixty mutated requests through %s',
	async (_name, startFront) => {
		const { passed } = await smuggle(startFront, 60, 9);
		expect(passed).toBeGreaterThan(5);
	},
	60_000,
);

/** Start on a busy machine: it takes seconds, and its work does not count as overload. */
import { availableParallelism } from 'node:os';
import { expect, test } from 'vitest';
import { call, client, planProduct, statusOf } from '../support/deployment.ts';
import { launcher, startProcess } from '../support/processes.ts';
import { eventually, fetchAccessToken } from '../support/product.ts';

/** Starts busy loops in the product's process group, because Linux may schedule a group as one unit. */
const besides = (count: number): string => `for n in $(seq ${count}); do while :; do :; done >/dev/null 2>&1 & done; exec "$0" "$@"`;

test('the first requests after it find the gateway open', async () => {
	const plan = await planProduct({ edge: { overload: { loop_delay_ms: 200 }, firewall: { per_ip: { requests: 1_000_000 } } } });
	const start = [process.execPath, launcher, 'start', '--config', plan.configPath];
	// Low priority, so that other tests are not delayed.
	const product = startProcess('nice', ['-n', '10', '/bin/sh', '-c', besides(5 * availableParallelism()), ...start]);
	const ask = async (accessToken: string): Promise<string> => {
		const response = await call(plan.gatewayUrl, accessToken);
		return `${response.status} ${response.status === 200 ? '' : await response.text()}`.trim();
	};
	await eventually(
		`the identity is ready; ${product.stderr}`,
		async () => ((await statusOf(`${plan.identityUrl}/readyz`)) === 200 ? true : undefined),
		90_000,
	);
	const accessToken = await fetchAccessToken(`${plan.identityUrl}/oauth2/token`, client);
	await eventually('it is ready', async () => ((await statusOf(`${plan.gatewayUrl}/readyz`)) === 200 ? true : undefined), 90_000);
	const responses: string[] = [];
	const clients = Array.from({ length: 10 }, async () => {
		for (let count = 0; count < 10; count++) responses.push(await ask(accessToken));
	});
	await Promise.all(clients);
	expect(new Set(responses)).toEqual(new Set(['200']));
	expect(product.log.filter(({ msg }) => String(msg).startsWith('overload'))).toEqual([]);
}, 240_000);

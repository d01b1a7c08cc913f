/** Process with a low limit of open files: it serves as many connections as fit, and survives having no descriptor left. */
import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { call, type Deployment, planProduct, requestStatus, startPlan, statusOf } from '../support/deployment.ts';
import { launcher } from '../support/processes.ts';
import { eventually, freePort } from '../support/product.ts';

const limit = 256;
const withLimit = { program: ['/bin/sh', '-c', `ulimit -n ${limit} && exec "$0" "$@"`, process.execPath, launcher] };

const openDescriptors = ({ pid }: Deployment): number => readdirSync(`/proc/${pid}/fd`).length;

/** Opens connections that send no request; the server closes those above its limit. */
function openIdle(url: string, count: number): Socket[] {
	const { port, hostname } = new URL(url);
	const sockets = Array.from({ length: count }, () => connect(Number(port), hostname).on('error', () => undefined));
	onTestFinished(() => {
		for (const socket of sockets) socket.destroy();
	});
	return sockets;
}

const isOpen = (socket: Socket): boolean => socket.readyState === 'open';

test(`${limit} descriptors: max_connections is lowered and logged, and a flood of connections leaves stores and providers theirs`, async () => {
	const metricsUrl = `http://127.0.0.1:${await freePort()}`;
	const plan = await planProduct({ metrics: { listen: new URL(metricsUrl).host } });
	const product = await startPlan(plan, withLimit);
	const lowered = await product.logged('fewer connections than configured: raise the descriptor limit');
	expect(lowered).toMatchObject({ level: 'warn', configured: 10_000, descriptor_limit: limit });
	const max = lowered['max_connections'] as number;
	expect(max).toBeGreaterThan(20);
	const accessToken = await product.accessToken();

	// Half of the maximum, because each request needs another connection to its provider.
	const busy = await Promise.all(
		Array.from({ length: Math.floor(max / 2) }, () =>
			requestStatus(plan.gatewayUrl, accessToken, { model: 'gpt-sim-slow-first-byte-300' }),
		),
	);
	expect(new Set(busy)).toEqual(new Set([200]));

	const stream = await call(plan.gatewayUrl, accessToken, { model: 'gpt-sim-tokens-400-interval-20', isStreaming: true });
	const flood = [plan.gatewayUrl, plan.identityUrl, plan.simulatorUrl, metricsUrl].flatMap((url) => openIdle(url, 400));
	await eventually('all are connected or closed', () => flood.every((socket) => isOpen(socket) || socket.destroyed) || undefined);
	expect(openDescriptors(product)).toBeLessThan(limit);
	expect(flood.filter(isOpen).length).toBeGreaterThan(max / 2);
	// In-flight responses complete.
	expect(await stream.text()).toContain('[DONE]');
	for (const socket of flood) socket.destroy();
	await eventually('calls succeed', async () =>
		(await requestStatus(plan.gatewayUrl, accessToken).catch(() => 0)) === 200 && (await statusOf(`${metricsUrl}/metrics`)) === 200
			? true
			: undefined,
	);
	expect(product.stderr).toBe('');
});

test('a process without a free descriptor survives, and serves again when some are free', async () => {
	const product = await startPlan(await planProduct(), withLimit);
	const accessToken = await product.accessToken();
	// Limit below every descriptor that the process could open.
	execFileSync('prlimit', ['--pid', String(product.pid), `--nofile=8:${limit}`]);
	// Long enough for several samples of the memory and checks of the files.
	await new Promise((resolve) => setTimeout(resolve, 1500));
	expect([product.child.exitCode, product.stderr]).toEqual([null, '']);
	execFileSync('prlimit', ['--pid', String(product.pid), `--nofile=${limit}:${limit}`]);
	expect(await requestStatus(product.gatewayUrl, accessToken)).toBe(200);
});

/** Gateways behind an edge restart one after the other under load. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { print } from '../support/accounting-print.ts';
import { call, client, planProduct, simulatedProviders, statusOf, untilReady, writeSettings } from '../support/deployment.ts';
import { launcher, type Running, startProcess } from '../support/processes.ts';
import { eventually, fetchAccessToken, freePort } from '../support/product.ts';
import { readStream } from '../support/read-stream.ts';

export interface RollingRestart {
	readonly gateways: number;
	/** Number of restarts of every gateway. */
	readonly rounds: number;
	readonly requestsPerSecond: number;
	/** Number of open streams at any time; each takes two seconds. */
	readonly streams: number;
}

/** Restarts all gateways under load. @returns the requests that failed and the streams that broke. */
export async function restartUnderLoad({ gateways: count, rounds, requestsPerSecond, streams }: RollingRestart): Promise<string[]> {
	const base = await planProduct({ roles: ['identity', 'simulator'] });
	const auth = { issuer: base.identityUrl, jwks_uri: `${base.identityUrl}/.well-known/jwks.json` };
	startProcess(process.execPath, [launcher, 'start', '--config', base.configPath]);
	const start = (name: string, settings: object): Running => {
		const path = `${base.directory}/${name}.json`;
		writeSettings(path, { auth, data_dir: `${base.directory}/${name}`, ...settings });
		return startProcess(process.execPath, [launcher, 'start', '--config', path]);
	};
	await eventually('the identity is there', async () => ((await statusOf(auth.jwks_uri)) === 200 ? true : undefined), 15_000);
	const ports = await Promise.all(Array.from({ length: count }, () => freePort()));
	const overload = { loop_delay_ms: 60_000 };
	const startGateway = (port: number): Running =>
		start(`gateway-${port}`, {
			roles: ['gateway'],
			gateway: { listen: `127.0.0.1:${port}` },
			edge: { overload },
			teams: { unregistered_clients: { tier: 'enterprise' } },
			providers: simulatedProviders(base.simulatorUrl),
		});
	const running = new Map(ports.map((port) => [port, startGateway(port)]));
	const edgeUrl = `http://127.0.0.1:${await freePort()}`;
	const edge = start('edge', {
		roles: ['edge'],
		edge: {
			listen: edgeUrl.slice('http://'.length),
			gateways: ports.map((port) => `http://127.0.0.1:${port}`),
			overload,
			firewall: { per_ip: { requests: 1_000_000 } },
		},
	});
	await Promise.all([untilReady(edgeUrl, edge), ...[...running].map(([port, one]) => untilReady(`http://127.0.0.1:${port}`, one))]);
	const accessToken = await fetchAccessToken(`${base.identityUrl}/oauth2/token`, client);

	let isOver = false;
	const failures: string[] = [];
	let responseCount = 0;
	const ask = async (): Promise<void> => {
		const failure = await call(edgeUrl, accessToken)
			.then(async (response) => [response.status, await response.text()] as const)
			.then(([status, text]) => (status === 200 ? undefined : `${status} ${text.slice(0, 300)}`))
			.catch((cause: unknown) => String(cause));
		responseCount++;
		if (failure !== undefined) failures.push(`request: ${failure}`);
	};
	const send = async (): Promise<void> => {
		const requested: Promise<void>[] = [];
		const startMs = performance.now();
		while (!isOver) {
			const due = ((performance.now() - startMs) / 1000) * requestsPerSecond;
			while (requested.length < due) requested.push(ask());
			await sleep(5);
		}
		await Promise.all(requested);
	};
	let read = 0;
	const stream = async (): Promise<void> => {
		while (!isOver) {
			const text = await call(edgeUrl, accessToken, { isStreaming: true, model: 'gpt-sim-tokens-20-interval-100' })
				.then(async (response) => (await readStream(response)).text)
				.catch((cause: unknown) => String(cause));
			read++;
			if (text.endsWith('data: [DONE]\n\n')) continue;
			failures.push(`stream: ${text.slice(-300)}`);
			await sleep(100);
		}
	};
	const working = [send(), ...Array.from({ length: streams }, stream)];
	for (let round = 0; round < rounds; round++) {
		for (const port of ports) {
			const before = running.get(port);
			before?.child.kill('SIGTERM');
			expect(await before?.ended).toEqual({ code: 0, signal: null });
			const next = startGateway(port);
			running.set(port, next);
			await untilReady(`http://127.0.0.1:${port}`, next);
		}
	}
	isOver = true;
	await Promise.all(working);
	print(`${rounds * count} restarts, ${responseCount} requests, ${read} streams, ${failures.length} failures`);
	expect(responseCount).toBeGreaterThan(rounds * count);
	return failures;
}

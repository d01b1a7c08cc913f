/** Setting `gateway.workers`: several processes behind one address. */
import { readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { untilMinuteHasCapacity } from '../support/accounting-minute.ts';
import { call, client, planProduct, requestStatus, simulatedProviders, startPlan, untilReady } from '../support/deployment.ts';
import { isAlive, launcher, type Running, startProcess, temporaryDirectory } from '../support/processes.ts';
import { eventually, fetchAccessToken, freePort } from '../support/product.ts';
import { readStream } from '../support/read-stream.ts';
import { type RedisDatabase, shareRedis } from '../support/shared-stores.ts';

let redis: RedisDatabase;
beforeAll(async () => {
	redis = await shareRedis();
});
afterAll(() => redis.stop());

interface Started {
	readonly running: Running;
	readonly configPath: string;
	readonly gatewayUrl: string;
	readonly accessToken: string;
	workers(): number[];
	/** Values of the `worker` label in the metrics. */
	workerLabels(): Promise<string[]>;
}

/** Requests the list of models over a new connection, which either worker may accept. */
function modelsOf(gatewayUrl: string, accessToken: string): Promise<string> {
	return new Promise((resolve, reject) => {
		const headers = { authorization: `Bearer ${accessToken}` };
		const outgoing = request(`${gatewayUrl}/v1/models`, { agent: false, headers }, (response) => {
			let text = '';
			response.setEncoding('utf8').on('data', (piece: string) => (text += piece));
			response.once('end', () => resolve(text));
		});
		outgoing.once('error', reject).end();
	});
}

async function startWorkers(): Promise<Started> {
	const metricsListen = `127.0.0.1:${await freePort()}`;
	const plan = await planProduct({
		gateway: { workers: 2 },
		metrics: { listen: metricsListen },
		stores: { counters: redis.url },
		teams: { unregistered_clients: { tier: 'standard' } },
	});
	const running = startProcess(process.execPath, [launcher, 'start', '--config', plan.configPath]);
	await untilReady(plan.gatewayUrl, running);
	const { pid } = running.child;
	return {
		running,
		configPath: plan.configPath,
		gatewayUrl: plan.gatewayUrl,
		accessToken: await fetchAccessToken(`${plan.identityUrl}/oauth2/token`, client),
		async workerLabels() {
			const text = await (await fetch(`http://${metricsListen}/metrics`)).text();
			return [...new Set([...text.matchAll(/worker="(\w+)"/g)].map(([, label = '']) => label))].toSorted();
		},
		workers: () => readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number),
	};
}

test('two workers share the team’s limit; one that dies is replaced; streams complete after a signal to stop; no process is left', async () => {
	const { running, configPath, gatewayUrl, accessToken, workers, workerLabels } = await startWorkers();
	const areStarted = (count: number) => () => (running.log.filter((line) => line['msg'] === 'started').length === count ? true : undefined);
	// Waits for the log lines too: a worker killed between listening and its log line would never be counted.
	await eventually('the first process and two workers have started', areStarted(3), 20_000);
	const first = workers();
	expect(first).toHaveLength(2);

	// A new worker starts with the configuration of the running ones, not with the broken file.
	const settings = JSON.parse(readFileSync(configPath, 'utf8')) as object;
	writeFileSync(configPath, '{"gateway": ');
	process.kill(first[0] ?? 0, 'SIGKILL');
	const second = await eventually('another takes its place', () => {
		const now = workers();
		return now.length === 2 && !now.includes(first[0] ?? 0) ? now : undefined;
	});
	running.child.kill('SIGHUP');
	await eventually('both are there', areStarted(4), 20_000);
	expect(running.log.some(({ msg }) => String(msg).startsWith('configuration rejected'))).toBe(true);
	expect(workers(), 'a reload ends none that is only starting').toEqual(second);
	await expect.poll(workerLabels, { message: 'the new one has the number of the old one' }).toEqual(['0', '1', '2']);

	writeFileSync(configPath, JSON.stringify({ ...settings, routing: { aliases: { mended: 'provider_b/gpt-5' } } }));
	const onNewConnections = async (): Promise<boolean> => {
		const lists = await Promise.all(Array.from({ length: 12 }, () => modelsOf(gatewayUrl, accessToken)));
		return lists.every((list) => list.includes('"mended"'));
	};
	await expect.poll(onNewConnections, { message: 'what is mended reaches both workers' }).toBe(true);

	await untilMinuteHasCapacity(15_000);
	const stream = await call(gatewayUrl, accessToken, { isStreaming: true, model: 'gpt-sim-tokens-20-interval-100' });
	const statuses = await Promise.all(Array.from({ length: 129 }, () => requestStatus(gatewayUrl, accessToken)));
	const requests = () => running.log.filter((line) => line['msg'] === 'request');
	await eventually('all but the stream are in the log', () => (requests().length >= statuses.length ? true : undefined));
	expect(new Set(requests().map((line) => line['worker'])), 'both have worked, the new one under the old one’s number').toEqual(
		new Set([1, 2]),
	);
	// Requests that pass uncounted, because a busy machine delays Redis, are logged as such.
	const uncounted = requests().filter((line) => line['isUncounted'] === true).length;
	const passed = statuses.filter((status) => status === 200).length;
	const rejected = statuses.filter((status) => status === 429).length;
	expect(passed + rejected).toBe(statuses.length);
	expect(passed - uncounted, `with ${uncounted} uncounted`).toBeLessThanOrEqual(99);
	expect(rejected, `with ${uncounted} uncounted`).toBeLessThanOrEqual(30);
	if (uncounted === 0) expect(passed).toBe(99);

	running.child.kill('SIGTERM');
	expect((await readStream(stream)).text).toMatch(/data: \[DONE\]\n\n$/);
	expect(await running.ended).toEqual({ code: 0, signal: null });
	for (const pid of second) expect(() => process.kill(pid, 0)).toThrow('ESRCH');
}, 90_000);

test('started by an old Node whose launcher is killed outright, workers still end in order', async () => {
	const simulator = await planProduct({ roles: ['simulator'] });
	startProcess(process.execPath, [launcher, 'start', '--config', simulator.configPath]);
	const plan = await planProduct({
		roles: ['edge', 'gateway', 'identity'],
		gateway: { workers: 2 },
		stores: { counters: redis.url },
		providers: simulatedProviders(simulator.simulatorUrl),
	});
	const disguise = join(temporaryDirectory(), 'disguise.cjs');
	writeFileSync(disguise, "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.20.2' } });");
	const running = await startPlan(plan, { program: [process.execPath, '--require', disguise, launcher] });
	const has = (event: string, count: number) => () => (running.log.filter(({ msg }) => msg === event).length === count ? true : undefined);
	await eventually('the first process and two workers have started', has('started', 3), 20_000);
	const first = running.log.find(({ msg, worker }) => msg === 'started' && worker === undefined)?.['pid'];
	const stream = await call(plan.gatewayUrl, await running.accessToken(), { isStreaming: true, model: 'gpt-sim-tokens-20-interval-100' });

	running.child.kill('SIGKILL');
	expect((await readStream(stream)).text).toMatch(/data: \[DONE\]\n\n$/);
	await running.ended;
	expect(running.log.filter(({ msg }) => msg === 'stopped')).toHaveLength(2);
	expect(isAlive(Number(first)), 'the first process is gone with its launcher').toBe(false);
}, 60_000);

test('without shared counters several workers are rejected', async () => {
	const plan = await planProduct({ gateway: { workers: 2 } });
	const running = startProcess(process.execPath, [launcher, 'start', '--config', plan.configPath]);
	expect(await running.ended).toMatchObject({ code: 1 });
	expect(running.stderr).toMatch(/gateway\.workers.*set stores\.counters to a redis:\/\/ URL/);
});

test('a port that is taken ends them all', async () => {
	const taken = await planProduct({ roles: ['simulator'] });
	const holder = startProcess(process.execPath, [launcher, 'start', '--config', taken.configPath]);
	await eventually('it listens', async () => {
		return (await fetch(taken.simulatorUrl).catch(() => undefined)) === undefined ? undefined : true;
	});
	const plan = await planProduct({
		gateway: { workers: 2, listen: taken.simulatorUrl.slice('http://'.length) },
		stores: { counters: redis.url },
	});
	const running = startProcess(process.execPath, [launcher, 'start', '--config', plan.configPath]);
	expect(await running.ended).toMatchObject({ code: 2 });
	expect(running.stderr).toContain('is already in use (gateway.listen)');
	holder.child.kill('SIGTERM');
});

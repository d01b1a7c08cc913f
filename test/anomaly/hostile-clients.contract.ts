/** Clients that send or read as slowly as they can, and their effect on a well-behaved client. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished } from 'vitest';
import { call, type Deployment, type RequestOptions, requestStatus, startDeployment } from '../support/deployment.ts';
import { startFastStream } from '../support/fast-stream.ts';
import { watchMemory } from '../support/process-memory.ts';
import { eventually, freePort } from '../support/product.ts';
import { RawClient } from '../support/raw-client.ts';
import { readStream } from '../support/read-stream.ts';

export interface SlowClients {
	/** Number of clients of each of the three kinds. */
	readonly each: number;
	/** Timeouts of the product for heads, bodies, and idle connections. */
	readonly limitMs: number;
	readonly maxGrowthBytes: number;
}

export interface SlowClientsReport {
	readonly goodRequests: number;
	readonly p99Ms: number;
	/** Time from the first slow connection to the end of the last, by the product's metrics. */
	readonly allClosedMs: number;
	readonly growthBytes: number;
}

/** Response of usual size, without delays. */
const normalStream = 'gpt-sim-tokens-200-interval-0';

const firewall = { per_ip: { requests: 1_000_000 } };

const post = (token: string, body: string, length = body.length): string =>
	`POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n` +
	`Content-Length: ${length}\r\n\r\n${body}`;

/** Opens a connection that requests a stream and never reads it. */
function requestAndNeverRead(port: number, token: string, model: string): void {
	const client = new RawClient(port);
	client.socket.pause();
	onTestFinished(() => client.destroy());
	client.send(post(token, JSON.stringify({ model, stream: true, messages: [{ role: 'user', content: 'hi' }] })));
}

/** Opens a connection that sends more bytes at intervals. */
function drip(port: number, first: string, more: string, everyMs: number): RawClient {
	const client = new RawClient(port).send(first);
	const timer = setInterval(() => client.send(more), everyMs);
	client.socket.on('close', () => clearInterval(timer));
	onTestFinished(() => {
		clearInterval(timer);
		client.destroy();
	});
	return client;
}

/** Sends requests one after the other until stopped. @returns the status and duration of each. */
function callSteadily(product: Deployment, token: string): { stop(): Promise<{ statuses: number[]; durationsMs: number[] }> } {
	let isOver = false;
	const statuses: number[] = [];
	const durationsMs: number[] = [];
	const done = (async () => {
		while (!isOver) {
			const startMs = performance.now();
			statuses.push(await requestStatus(product.gatewayUrl, token).catch(() => 0));
			durationsMs.push(performance.now() - startMs);
			await sleep(20);
		}
	})();
	return {
		async stop() {
			isOver = true;
			await done;
			return { statuses, durationsMs };
		},
	};
}

/** Warms up the process with concurrent clients that read all responses: memory of a warm process does not count as growth. */
async function warmUp(
	{ gatewayUrl }: Deployment,
	token: string,
	callers: number,
	calls: number,
	options: RequestOptions = {},
): Promise<void> {
	const work = async (): Promise<void> => {
		for (let index = 0; index < calls; index++) expect(await requestStatus(gatewayUrl, token, options)).toBe(200);
	};
	await Promise.all(Array.from({ length: callers }, work));
}

/** Fails if a slow client stays connected, a request of the well-behaved one is rejected, or the process grows. */
export async function attackSlowly({ each, limitMs, maxGrowthBytes }: SlowClients): Promise<SlowClientsReport> {
	const limits = { headers_timeout_ms: limitMs, body_timeout_ms: limitMs, stalled_write_ms: limitMs, keep_alive_ms: limitMs };
	const metricsListen = `127.0.0.1:${await freePort()}`;
	const product = await startDeployment({ edge: { limits, firewall }, metrics: { listen: metricsListen } });
	const openConnections = async (): Promise<number> => {
		const text = await (await fetch(`http://${metricsListen}/metrics`)).text();
		return Number(/^tollgate_connections_open (\d+)$/m.exec(text)?.[1]);
	};
	const token = await product.accessToken();
	const port = Number(new URL(product.gatewayUrl).port);
	await warmUp(product, token, 10, 50);
	await warmUp(product, token, each, 1, { model: normalStream, isStreaming: true });
	const memory = watchMemory(product.pid);
	const good = callSteadily(product, token);
	const startMs = performance.now();
	const everyMs = limitMs / 10;
	const bodies: RawClient[] = [];
	for (let index = 0; index < each; index++) {
		drip(port, 'POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\n', 'X-A: b\r\n', everyMs);
		bodies.push(drip(port, post(token, '{"model":"', 100_000), 'x', everyMs));
		// Idle connection: the system buffers a response of usual size for a client that does not read.
		requestAndNeverRead(port, token, normalStream);
	}
	const untilOpen = (what: string, isSo: (open: number) => boolean): Promise<true> =>
		eventually(what, async () => (isSo(await openConnections()) ? true : undefined), 10 * limitMs + 20_000);
	await untilOpen('the slow ones are there', (open) => open > each);
	await untilOpen('the slow ones are closed', (open) => open < 10);
	const allClosedMs = performance.now() - startMs;
	const { statuses, durationsMs } = await good.stop();
	memory.stop();
	expect(statuses.filter((status) => status !== 200)).toEqual([]);
	expect(memory.peakGrowth).toBeLessThan(maxGrowthBytes);
	await eventually('slow bodies are told', () => (bodies.every(({ statuses: [status] }) => status === 408) ? true : undefined));
	const sorted = durationsMs.toSorted((left, right) => left - right);
	return {
		goodRequests: statuses.length,
		p99Ms: sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN,
		allClosedMs,
		growthBytes: memory.peakGrowth,
	};
}

export interface SilentReaders {
	readonly readers: number;
	readonly stalledMs: number;
	readonly maxGrowthBytes: number;
}

/** Fails if clients that do not read use more memory than allowed, disturb another stream, or are not disconnected. */
export async function neverRead({ readers, stalledMs, maxGrowthBytes }: SilentReaders): Promise<{ growthBytes: number }> {
	// Streams of 10 MB each: more than two sockets buffer for a client that does not read.
	const fast = await startFastStream(160);
	onTestFinished(() => fast.close());
	const product = await startDeployment({
		edge: { limits: { stalled_write_ms: stalledMs }, firewall },
		providers: { fast: { kind: 'openai', base_url: fast.origin, api_key: 'k', allow_private_network: true } },
	});
	const token = await product.accessToken();
	const port = Number(new URL(product.gatewayUrl).port);
	await warmUp(product, token, 10, 20);
	await warmUp(product, token, 10, 3, { model: 'fast/x', isStreaming: true });
	const memory = watchMemory(product.pid);
	for (let index = 0; index < readers; index++) requestAndNeverRead(port, token, 'fast/x');
	const others = await Promise.all(
		Array.from({ length: 10 }, async () => {
			const response = await call(product.gatewayUrl, token, { isStreaming: true, model: 'gpt-sim-tokens-100-interval-10' });
			return { status: response.status, ...(await readStream(response)) };
		}),
	);
	for (const { status, isBroken, text } of others) {
		expect([status, isBroken]).toEqual([200, false]);
		expect(text).toMatch(/data: \[DONE\]\n\n$/);
	}
	const givenUp = (): number => product.log.filter((line) => line['msg'] === 'request' && line['outcome'] === 'broken').length;
	await eventually('all are given up', () => (givenUp() === readers ? true : undefined), 20 * stalledMs + 20_000);
	memory.stop();
	expect(memory.peakGrowth).toBeLessThan(maxGrowthBytes);
	expect(await requestStatus(product.gatewayUrl, token)).toBe(200);
	return { growthBytes: memory.peakGrowth };
}

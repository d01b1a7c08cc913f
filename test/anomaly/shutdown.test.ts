/** After a signal to stop, everything that can complete does. */
import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { call, type Deployment, planProduct, requestStatus, startDeployment, startPlan, statusOf } from '../support/deployment.ts';
import { isAlive, launcher, systemPath } from '../support/processes.ts';
import { eventually } from '../support/product.ts';
import { readStream } from '../support/read-stream.ts';

/** Starts with the machine's own Node, of any version. */
const startedByLauncher = { program: [launcher], env: { PATH: systemPath } };

const formats = ['chat', 'messages'] as const;

/** End of a complete stream, by format. */
const ending = { chat: /\ndata: \[DONE\]\n\n$/, messages: /\nevent: message_stop\ndata: \{"type":"message_stop" *\}\n\n$/ };

interface OpenStream {
	readonly format: (typeof formats)[number];
	readonly read: Promise<{ text: string; isBroken: boolean }>;
}

/** Opens streams of both formats alternately and waits until each has begun. */
async function openStreams(product: Deployment, count: number, faults: string): Promise<OpenStream[]> {
	const accessToken = await product.accessToken();
	return Promise.all(
		Array.from({ length: count }, async (_, index): Promise<OpenStream> => {
			const format = formats[index % 2] ?? 'chat';
			const model = `${format === 'chat' ? 'gpt' : 'claude'}-sim-${faults}`;
			const response = await call(product.gatewayUrl, accessToken, { format, model, isStreaming: true });
			expect(response.status).toBe(200);
			return { format, read: readStream(response) };
		}),
	);
}

/** Data of the last event, which must be complete. */
function lastEvent(text: string): { name: string | undefined; data: unknown } {
	expect(text.endsWith('\n\n'), `a stream that ends in the middle of an event: ${text.slice(-200)}`).toBe(true);
	const event = text.trimEnd().split('\n\n').at(-1) ?? '';
	const name = /^event: (.*)$/m.exec(event)?.[1];
	return { name, data: JSON.parse(/^data: (.*)$/m.exec(event)?.[1] ?? 'null') };
}

/** Duration of the shutdown by the process's own log, because a busy machine delays its start and end. */
function stoppingMs({ log }: Deployment): number {
	const [began, ended] = ['stopping', 'stopped'].map((event) => Date.parse(String(log.find((line) => line['msg'] === event)?.['time'])));
	return (ended ?? Number.NaN) - (began ?? Number.NaN);
}

describe.each([
	['node', undefined],
	['bin/tollgate', startedByLauncher],
] as const)('SIGTERM to %s', (_name, options) => {
	test('50 streams: the short ones complete, the others end with an error event, exit code 0', async () => {
		const product = await startPlan(await planProduct({ gateway: { shutdown_grace_ms: 1200 } }), options);
		// Streams of 40 tokens at 10 ms end within the grace period; the stalled ones do not.
		const short = await openStreams(product, 30, 'tokens-40-interval-10');
		const long = await openStreams(product, 20, 'stall-3');
		let isGraceOver = false;
		for (const { read } of long) void read.then(() => (isGraceOver = true));
		const startedMs = performance.now();
		product.child.kill('SIGTERM');

		for (const { format, read } of short) {
			const { text, isBroken } = await read;
			expect(isBroken).toBe(false);
			expect(text).toMatch(ending[format]);
		}
		expect(isGraceOver, 'the short ones waited for the long ones').toBe(false);
		for (const { format, read } of long) {
			const { text, isBroken } = await read;
			expect(isBroken).toBe(false);
			const { name, data } = lastEvent(text);
			expect(data).toMatchObject({ error: { code: 'draining', message: expect.stringMatching(/shutting down/) as unknown } });
			if (format === 'messages') expect([name, data]).toMatchObject(['error', { type: 'error' }]);
		}
		expect(await product.ended).toEqual({ code: 0, signal: null });
		expect(performance.now() - startedMs).toBeGreaterThan(1100);
		expect(stoppingMs(product)).toBeLessThan(4000);
		expect(product.log.filter((line) => line['msg'] === 'request' && line['code'] === 'draining')).toHaveLength(20);
		expect(product.log.at(-1)).toMatchObject({ msg: 'stopped' });
		expect(product.stderr).toBe('');
	});

	test('without anything in flight the end is immediate', async () => {
		const product = await startPlan(await planProduct(), options);
		await product.accessToken();
		product.child.kill('SIGTERM');
		expect(await product.ended).toEqual({ code: 0, signal: null });
		expect(stoppingMs(product)).toBeLessThan(1000);
	});

	test('a second signal ends at once', async () => {
		const product = await startPlan(await planProduct({ gateway: { shutdown_grace_ms: 60_000 } }), options);
		const streams = await openStreams(product, 2, 'stall-3');
		product.child.kill('SIGTERM');
		await eventually('the gateway is closed', async () => ((await statusOf(`${product.gatewayUrl}/`)) === 0 ? true : undefined));
		expect(isAlive(product.pid)).toBe(true);
		product.child.kill('SIGTERM');
		// Exit code 143 shows that the process did not wait: after the grace period of a minute it would exit with code 0.
		expect(await product.ended).toEqual({ code: 143, signal: null });
		for (const { read } of streams) expect(await read).toMatchObject({ isBroken: true });
	});
});

test('SIGTERM: no new connections at once, while open streams continue', async () => {
	const product = await startDeployment({ gateway: { shutdown_grace_ms: 60_000 } });
	const streams = await openStreams(product, 2, 'tokens-60-interval-20');
	product.child.kill('SIGTERM');
	await product.logged('stopping');
	expect(await statusOf(`${product.gatewayUrl}/readyz`)).toBe(0);
	const port = Number(new URL(product.gatewayUrl).port);
	const rejected = await new Promise<string>((resolve) => {
		connect({ port, host: '127.0.0.1' })
			.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? ''))
			.on('connect', () => resolve('connected'));
	});
	expect(rejected).toBe('ECONNREFUSED');
	for (const { format, read } of streams) expect((await read).text).toMatch(ending[format]);
	expect(await product.ended).toEqual({ code: 0, signal: null });
});

test('with a delay: not ready at once but still serving, then closed', async () => {
	const delayMs = 2000;
	const product = await startDeployment({ gateway: { shutdown_delay_ms: delayMs, shutdown_grace_ms: 60_000 } });
	const accessToken = await product.accessToken();
	product.child.kill('SIGTERM');
	await eventually('not ready', async () => ((await statusOf(`${product.gatewayUrl}/readyz`)) === 503 ? true : undefined), delayMs);
	expect(await statusOf(`${product.gatewayUrl}/healthz`)).toBe(200);
	expect(await requestStatus(product.gatewayUrl, accessToken)).toBe(200);
	expect(await requestStatus(product.gatewayUrl, await product.accessToken())).toBe(200);
	expect(await product.ended).toEqual({ code: 0, signal: null });
	expect(stoppingMs(product)).toBeGreaterThan(delayMs - 10);
	expect(stoppingMs(product)).toBeLessThan(delayMs + 1800);
});

test('a non-streaming request that exceeds the grace period gets 503', async () => {
	const product = await startDeployment({ gateway: { shutdown_grace_ms: 300 } });
	const httpResponse = call(product.gatewayUrl, await product.accessToken(), { model: 'gpt-sim-hang' });
	await eventually('the provider has the call', async () => {
		const response = await fetch(`${product.simulatorUrl}/_simulator/requests`);
		return ((await response.json()) as { data: unknown[] }).data.length > 0 ? true : undefined;
	});
	product.child.kill('SIGTERM');
	const response = await httpResponse;
	expect(response.status).toBe(503);
	expect(response.headers.get('retry-after')).toBe('1');
	expect(await response.json()).toMatchObject({ type: 'error', error: { code: 'draining' } });
	expect(await product.ended).toEqual({ code: 0, signal: null });
});

test('a half-sent token request does not hold up the end beyond the grace time', async () => {
	const product = await startDeployment({ gateway: { shutdown_grace_ms: 1500 } });
	const streams = await openStreams(product, 2, 'stall-3');
	const socket = connect({ port: Number(new URL(product.identityUrl).port), host: '127.0.0.1' }).on('error', () => undefined);
	await new Promise<void>((resolve) => {
		socket.write('POST /oauth2/token HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\ngrant', () => resolve());
	});
	product.child.kill('SIGTERM');
	expect(await product.ended).toEqual({ code: 0, signal: null });
	expect(stoppingMs(product), 'grace times do not add up').toBeLessThan(2700);
	for (const { read } of streams) expect(lastEvent((await read).text).data).toMatchObject({ error: { code: 'draining' } });
	socket.destroy();
});

test('bin/tollgate killed outright takes the product with it', async () => {
	const product = await startPlan(await planProduct(), startedByLauncher);
	process.kill(product.pid, 'SIGKILL');
	await product.ended;
	expect(await statusOf(`${product.gatewayUrl}/`)).toBe(0);
});

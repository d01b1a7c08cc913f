/** The edge and any number of gateways as separate processes. */
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import {
	call,
	client,
	planProduct,
	type RequestOptions,
	requestStatus,
	simulatedProviders,
	statusOf,
	untilReady,
	writeSettings,
} from '../support/deployment.ts';
import { launcher, type Running, startProcess } from '../support/processes.ts';
import { eventually, fetchAccessToken, freePort } from '../support/product.ts';
import { readStream } from '../support/read-stream.ts';
import { TestIssuer } from '../support/test-issuer.ts';

interface Gateway {
	readonly url: string;
	process: Running;
	/** Number of inference requests in its log. */
	requests(): number;
	start(): Promise<void>;
}

interface Split {
	readonly edgeUrl: string;
	readonly simulatorUrl: string;
	readonly edge: Running;
	readonly gateways: readonly [Gateway, Gateway, ...Gateway[]];
	readonly accessToken: string;
	call(options?: RequestOptions): Promise<Response>;
	status(options?: RequestOptions): Promise<number>;
}

interface SplitOptions {
	/** Gateways in addition to the two. */
	readonly moreGateways?: number;
	readonly edge?: object;
}

/** Starts identity and simulator in one process, two gateways and an edge: four processes, each with its own configuration file. */
async function startSplit(gatewaySettings: object = {}, { moreGateways = 0, edge: edgeSettings }: SplitOptions = {}): Promise<Split> {
	const base = await planProduct({ roles: ['identity', 'simulator'] });
	const auth = { issuer: base.identityUrl, jwks_uri: `${base.identityUrl}/.well-known/jwks.json` };
	// Disables load shedding, because tests share the machine and a delayed process is not overload.
	const edgeOfAll = { overload: { loop_delay_ms: 60_000 } };
	const start = (name: string, { edge, ...settings }: { readonly edge?: object; readonly [section: string]: unknown }): Running => {
		const path = `${base.directory}/${name}.json`;
		writeSettings(path, { auth, data_dir: `${base.directory}/${name}`, edge: { ...edgeOfAll, ...edge }, ...settings });
		return startProcess(process.execPath, [launcher, 'start', '--config', path]);
	};
	const shared = startProcess(process.execPath, [launcher, 'start', '--config', base.configPath]);
	const [firstPort, secondPort, edgePort] = [await freePort(), await freePort(), await freePort()];
	const gatewayOn = (port: number): Gateway => {
		const startIt = (): Running =>
			start(`gateway-${port}`, {
				roles: ['gateway'],
				gateway: { listen: `127.0.0.1:${port}`, ...gatewaySettings },
				teams: { unregistered_clients: { tier: 'enterprise' } },
				providers: simulatedProviders(base.simulatorUrl),
			});
		const gateway: Gateway = {
			url: `http://127.0.0.1:${port}`,
			process: startIt(),
			requests: () => gateway.process.log.filter((line) => line['msg'] === 'request' && line['method'] === 'POST').length,
			async start() {
				gateway.process = startIt();
				await untilReady(gateway.url, gateway.process);
			},
		};
		return gateway;
	};
	await eventually(
		'the identity is there',
		async () => ((await statusOf(`${base.identityUrl}/.well-known/jwks.json`)) === 200 ? true : undefined),
		15_000,
	);
	const more: Gateway[] = [];
	while (more.length < moreGateways) more.push(gatewayOn(await freePort()));
	const gateways = [gatewayOn(firstPort), gatewayOn(secondPort), ...more] as const;
	const edgeUrl = `http://127.0.0.1:${edgePort}`;
	// Waits for the gateways first: one that the edge finds later gets its share of requests gradually.
	await Promise.all(gateways.map((gateway) => untilReady(gateway.url, gateway.process)));
	const edge = start('edge', {
		roles: ['edge'],
		edge: { listen: `127.0.0.1:${edgePort}`, gateways: gateways.map(({ url }) => url), ...edgeSettings },
	});
	await untilReady(edgeUrl, edge);
	expect(shared.child.exitCode).toBeNull();
	const accessToken = await fetchAccessToken(`${base.identityUrl}/oauth2/token`, client);
	return {
		edgeUrl,
		simulatorUrl: base.simulatorUrl,
		edge,
		gateways,
		accessToken,
		call: (options) => call(edgeUrl, accessToken, options),
		status: (options) => requestStatus(edgeUrl, accessToken, options),
	};
}

describe('an edge and two gateways', () => {
	test('requests and streams pass, to both; requests that the edge rejects reach no gateway', async () => {
		const { edgeUrl, gateways, edge, ...split } = await startSplit();
		const [first, second] = gateways;
		for (let index = 0; index < 10; index++) expect(await split.status({ format: index % 2 === 0 ? 'chat' : 'messages' })).toBe(200);
		const stream = await split.call({ isStreaming: true, model: 'gpt-sim-tokens-20-interval-5' });
		expect(stream.headers.get('content-type')).toContain('text/event-stream');
		expect((await readStream(stream)).text).toMatch(/data: \[DONE\]\n\n$/);
		const large = await split.call({ text: 'x'.repeat(200_000) });
		expect(large.status).toBe(200);
		await large.arrayBuffer();
		expect(large.headers.get('x-request-id')).toBe(large.headers.get('request-id'));
		expect(large.headers.get('x-gateway-provider')).toBe('provider_b');
		await eventually('both gateways have logged their share', () => (first.requests() + second.requests() === 12 ? true : undefined));
		expect(Math.min(first.requests(), second.requests()), 'both have some').toBeGreaterThan(0);

		expect(await requestStatus(edgeUrl, 'no.such.token')).toBe(401);
		expect(await requestStatus(edgeUrl, `${split.accessToken.slice(0, -4)}AAAA`)).toBe(401);
		expect(await statusOf(`${edgeUrl}/v1/models`)).toBe(401);
		expect(await split.status()).toBe(200);
		await eventually('the good one', () => (first.requests() + second.requests() === 13 ? true : undefined));
		await edge.logged('request', (line) => line['code'] === 'token_missing');
		expect(await edge.logged('request', (line) => line['status'] === 200 && line['method'] === 'POST')).toMatchObject({
			clientId: client.id,
			upstreamStatus: 200,
			firstByteMs: expect.any(Number) as unknown,
		});

		for (const name of ['x-api-key', 'api-key']) {
			const ask = (url: string, accessToken: string): Promise<number> => {
				const headers = { 'content-type': 'application/json', [name]: accessToken };
				const body = JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello.' }], max_tokens: 5 });
				return fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body }).then(async (response) => {
					await response.arrayBuffer();
					return response.status;
				});
			};
			for (const url of [edgeUrl, first.url]) {
				expect([name, url, await ask(url, split.accessToken), await ask(url, 'no.such.token')]).toEqual([name, url, 200, 401]);
			}
		}

		// Compressed requests are decompressed once, at the edge, or at a gateway without one.
		const compressed = async (url: string, content: string, bytes?: Buffer): Promise<[number, string | undefined]> => {
			const body = bytes ?? gzipSync(JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content }], max_tokens: 5 }));
			const headers = {
				'content-type': 'application/json',
				'content-encoding': 'gzip',
				authorization: `Bearer ${split.accessToken}`,
			};
			const response = await fetch(`${url}/v1/v1/chat/completions/`, { method: 'POST', headers, body });
			const { error } = (await response.json()) as { error?: { code: string } };
			return [response.status, error?.code];
		};
		for (const url of [edgeUrl, first.url]) {
			expect([url, await compressed(url, 'Hello.')]).toEqual([url, [200, undefined]]);
			expect([url, await compressed(url, 'x'.repeat(200_000))]).toEqual([url, [200, undefined]]);
			expect([url, await compressed(url, 'x'.repeat(40_000_000))]).toEqual([url, [413, 'body_too_large']]);
			expect([url, await compressed(url, '', Buffer.from('{}'))]).toEqual([url, [400, 'body_not_gzip']]);
		}

		// Gateways verify tokens too, for clients that bypass the edge.
		const past = await call(first.url, 'no.such.token');
		expect(past.status).toBe(401);
		expect(past.headers.get('content-type')).toContain('text/html');
		expect(await requestStatus(first.url, split.accessToken)).toBe(200);
		expect(await statusOf(`${first.url}/v1/models`)).toBe(401);
	});

	test('one gateway stops: no request fails; it comes back: used again within 8 s; none: 503, and healed at once', async () => {
		const { edgeUrl, gateways, ...split } = await startSplit();
		const [first, second] = gateways;
		for (let index = 0; index < 4; index++) expect(await split.status()).toBe(200);
		first.process.child.kill('SIGTERM');
		for (let index = 0; index < 40; index++) expect(await split.status({ format: 'messages' })).toBe(200);
		expect(await first.process.ended).toEqual({ code: 0, signal: null });
		expect(await Promise.all(Array.from({ length: 10 }, () => split.status({ text: 'y'.repeat(50_000) })))).toEqual(Array(10).fill(200));

		await first.start();
		const startedMs = performance.now();
		await eventually(
			'the one that came back is used',
			async () => {
				expect(await split.status()).toBe(200);
				return first.requests() > 0 ? true : undefined;
			},
			8000,
		);
		expect(performance.now() - startedMs).toBeLessThan(8000);

		for (const { process: running } of gateways) running.child.kill('SIGKILL');
		await Promise.all(gateways.map(({ process: running }) => running.ended));
		for (let index = 0; index < 3; index++) {
			const response = await split.call();
			expect(response.status).toBe(503);
			expect(response.headers.get('content-type')).toContain('text/html');
			expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
			await response.text();
		}
		expect(await statusOf(`${edgeUrl}/healthz`)).toBe(200);
		await second.start();
		await eventually('healed', async () => ((await split.status()) === 200 ? true : undefined), 8000);
	});

	test('all gateways are down and one returns under load: from its first response on no request gets 503', async () => {
		// Disables health checks, so that only requests detect the recovery.
		const health_check = { interval_ms: 600_000 };
		const split = await startSplit({}, { moreGateways: 1, edge: { health_check, firewall: { per_ip: { requests: 1_000_000 } } } });
		const { gateways } = split;
		for (const { process: running } of gateways) running.child.kill('SIGKILL');
		await Promise.all(gateways.map(({ process: running }) => running.ended));
		const responses: { readonly status: number; readonly beganMs: number; readonly endedMs: number }[] = [];
		let isOver = false;
		const clients = Array.from({ length: 8 }, async () => {
			while (!isOver) {
				const beganMs = performance.now();
				const status = await split.status();
				responses.push({ status, beganMs, endedMs: performance.now() });
			}
		});
		const firstSuccess = (): number => Math.min(...responses.filter(({ status }) => status === 200).map(({ endedMs }) => endedMs));
		await eventually('requests are rejected', () => (responses.length >= 50 ? true : undefined), 15_000);
		await gateways[2]?.start();
		await eventually(
			'many requests have followed the first success',
			() => (responses.filter(({ beganMs }) => beganMs > firstSuccess()).length >= 300 ? true : undefined),
			30_000,
		);
		isOver = true;
		await Promise.all(clients);
		expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([503, 200]));
		const later = responses.filter(({ beganMs }) => beganMs > firstSuccess());
		expect(later.filter(({ status }) => status !== 200)).toEqual([]);
	});

	test('a gateway that dies before it responds: 502; in the middle of a stream: it ends with an error event', async () => {
		const { gateways, simulatorUrl, edge, ...split } = await startSplit();
		const responses = [split.call({ model: 'gpt-sim-hang' }), split.call({ model: 'gpt-sim-hang' })];
		const stream = await split.call({ model: 'claude-sim-stall-3', format: 'messages', isStreaming: true });
		const received = readPieces(stream);
		await eventually('the stream has begun', () => (received.text.includes('message_start') ? true : undefined));
		await eventually('the provider has the calls', async () => {
			const response = await fetch(`${simulatorUrl}/_simulator/requests`);
			return ((await response.json()) as { data: unknown[] }).data.length === 3 ? true : undefined;
		});
		for (const { process: running } of gateways) running.child.kill('SIGKILL');
		for (const response of await Promise.all(responses)) {
			expect(response.status).toBe(502);
			expect(response.headers.get('content-type')).toContain('text/html');
			await response.text();
		}
		expect(await received.isBroken).toBe(false);
		expect(received.text).toMatch(/event: error\ndata: {.*"code":"gateway_unreachable".*}\n\n$/);
		expect(received.text).not.toContain('message_stop');
		const id = stream.headers.get('x-request-id') ?? 'none';
		expect(received.text).toContain(`"request_id":"${id}"`);
		await edge.logged('request', (line) => line['requestId'] === id);
		await edge.logged('request', (line) => line['status'] === 502 && line['code'] === 'gateway_unreachable');
	});
});

test('gateway.trust_edge reads claims without verifying them, and still wants a readable token', async () => {
	const { gateways, accessToken } = await startSplit({ trust_edge: true });
	const [gateway] = gateways;
	const stranger = await TestIssuer.start({ clientId: 'stranger' });
	const forged = stranger.accessToken();
	await stranger.stop();
	expect(await requestStatus(gateway.url, forged)).toBe(200);
	expect(await requestStatus(gateway.url, accessToken)).toBe(200);
	expect(await requestStatus(gateway.url, 'not-a-token')).toBe(401);
	expect(await statusOf(`${gateway.url}/v1/models`)).toBe(401);
	await gateway.process.logged('request', (line) => line['clientId'] === 'stranger' && line['status'] === 200);
});

/** Collects pieces as they arrive; `isBroken` resolves at the end. */
function readPieces(response: Response): { readonly text: string; readonly isBroken: Promise<boolean> } {
	const decoder = new TextDecoder();
	const received = { text: '', isBroken: Promise.resolve(false) };
	const read = async (): Promise<boolean> => {
		try {
			for await (const piece of response.body as AsyncIterable<Uint8Array>) received.text += decoder.decode(piece, { stream: true });
			return false;
		} catch {
			return true;
		}
	};
	received.isBroken = read();
	return received;
}

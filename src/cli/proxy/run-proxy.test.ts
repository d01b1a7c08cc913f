import { on, once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommandLine } from '../../../test/support/run-command-line.ts';
import type { CliEnvironment } from '../environment.ts';
import { type ProxyOptions, runProxy } from './run-proxy.ts';

/** Plays the token endpoint and the gateway. */
let server: Server;
let origin: string;

beforeAll(async () => {
	server = createServer((request, response) => {
		request.resume();
		if (request.url === '/oauth2/token') response.end('{"access_token":"abc","expires_in":3600}');
		else if (request.url === '/rejecting') response.writeHead(401).end('{"error":"invalid_client"}');
		else response.end(request.headers.authorization);
	}).listen(0, '127.0.0.1');
	await once(server, 'listening');
	origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
	server.closeAllConnections();
	server.close();
});

interface Outcome {
	code: number;
	out: string;
	err: string;
}

const credentials = (): Record<string, string> => ({
	GATEWAY_CLIENT_ID: 'agent',
	GATEWAY_CLIENT_SECRET: 'the-secret',
	GATEWAY_TOKEN_ENDPOINT: `${origin}/oauth2/token`,
});

/** Runs the proxy until `use` has returned; `use` gets its URL. */
async function run(
	options: Partial<ProxyOptions>,
	use: (url: string) => Promise<void> = () => Promise.resolve(),
	env: Record<string, string> = credentials(),
): Promise<Outcome> {
	const outcome: Outcome = { code: -1, out: '', err: '' };
	const started = Promise.withResolvers<string>();
	const environment = {
		env,
		stdout: {
			isTty: false,
			write: async (text: string) => {
				outcome.out += text;
				started.resolve(/http:\S+/.exec(text)?.[0] ?? '');
			},
		},
		stderr: { isTty: false, write: async (text: string) => void (outcome.err += text) },
		operations: { untilStopSignal: async () => use(await started.promise) },
	} as unknown as CliEnvironment;
	const listen = { host: '127.0.0.1', port: 0 };
	outcome.code = await runProxy({ listen, gateway: new URL(origin), allowedHosts: [], timeoutSeconds: 5, ...options }, environment);
	return outcome;
}

describe('tollgate proxy', () => {
	it('prints its addresses, serves with an access token, and ends with 0', async () => {
		let text = '';
		const { code, out, err } = await run({}, async (url) => {
			text = await (await fetch(`${url}/v1/models`, { headers: { authorization: 'Bearer any' } })).text();
		});
		expect([code, text, err]).toEqual([0, 'Bearer abc', '']);
		expect(out).toMatch(/^tollgate proxy: http:\/\/127\.0\.0\.1:\d+ forwards to http:\S+\n {2}OpenAI base URL {5}http:\S+\/v1\n/);
	});

	it('waits for a request that is in flight when it stops', async () => {
		let response: Promise<Response> | undefined;
		await run({}, async (url) => {
			response = fetch(`${url}/v1/models`);
			for await (const [request] of on(server, 'request') as AsyncIterable<[IncomingMessage]>) {
				if (request.url === '/v1/models') break;
			}
		});
		expect(await (await response)?.text()).toBe('Bearer abc');
	});

	it.each([
		['127.0.0.1', undefined],
		['::1', undefined],
		['0.0.0.0', 'warning: 0.0.0.0 is not a loopback address: everyone who reaches it sends requests as client agent'],
	])('on %s warns only if others can reach it', async (host, warning) => {
		const { err } = await run({ listen: { host, port: 0 } });
		expect(err).toBe(warning === undefined ? '' : `tollgate proxy: ${warning}\n`);
	});

	it('warns of plain http to another machine', async () => {
		const { err } = await run({ gateway: new URL('http://llm.example.com') });
		expect(err).toContain('the gateway is plain http');
	});

	it('reports rejected credentials when it starts, without the secret', async () => {
		const { code, err } = await run({}, undefined, { ...credentials(), GATEWAY_TOKEN_ENDPOINT: `${origin}/rejecting` });
		expect(code).toBe(0);
		expect(err).toContain('invalid_client: wrong client id or secret');
		expect(err).not.toContain('the-secret');
	});

	it('fails with 2 if its port is in use', async () => {
		const { port } = new URL(origin);
		await expect(run({ listen: { host: '127.0.0.1', port: Number(port) } })).rejects.toMatchObject({
			exitCode: 2,
			message: expect.stringContaining('EADDRINUSE') as unknown,
		});
	});
});

describe('the command line', () => {
	it.each(['proxy --listen 8786', 'proxy --gateway ftp://a', 'proxy --gateway https://u:p@a', 'proxy --timeout-seconds 0', 'proxy extra'])(
		'tollgate %s exits 1',
		async (line) => {
			const { code, err } = await runCommandLine(line);
			expect(code).toBe(1);
			expect(err).not.toBe('');
		},
	);

	it('tollgate proxy exits 1 and names the missing variables', async () => {
		const { code, err } = await runCommandLine('proxy');
		expect([code, err]).toEqual([1, expect.stringContaining('GATEWAY_CLIENT_ID, GATEWAY_CLIENT_SECRET, GATEWAY_TOKEN_ENDPOINT')]);
	});

	it('tollgate proxy --demo uses the client of the demo', async () => {
		const { calls, err } = await runCommandLine('proxy --demo');
		expect(calls).toEqual([['demoCredentials']]);
		expect(err).toContain('no demo');
	});
});

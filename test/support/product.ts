/** Complete product in a separate process, on free ports and with an empty data directory. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export const agent = { id: 'agent', secret: 'secret-of-the-agent-0123456789' };
export const operator = { id: 'operator', secret: 'secret-of-the-operator-0123456789' };

export interface Product {
	readonly gatewayUrl: string;
	readonly identityUrl: string;
	readonly simulatorUrl: string;
	readonly tokenEndpoint: string;
	readonly configPath: string;
	readonly dataDirectory: string;
	/** Log of the process so far, parsed. */
	readonly log: readonly Record<string, unknown>[];
	readonly process: ChildProcess;
	accessToken(client?: { id: string; secret: string }, scope?: string): Promise<string>;
	/** Ends the process with SIGTERM and returns its exit code. */
	stop(): Promise<number | null>;
}

export type Overrides = { readonly [key: string]: unknown };

/** Settings merged into the test's defaults. A function receives the URL of the simulator, for further providers. */
export type ProductOverrides = Overrides | ((simulatorUrl: string) => Overrides);

/** Starts edge, gateway, identity and simulator in one process; every provider is the simulator. */
export async function startProduct(overrides: ProductOverrides = {}, environment: Record<string, string> = {}): Promise<Product> {
	const directory = mkdtempSync(join(tmpdir(), 'tollgate-test-'));
	const [gatewayPort, identityPort, simulatorPort] = [await freePort(), await freePort(), await freePort()];
	const simulatorUrl = `http://127.0.0.1:${simulatorPort}`;
	const provider = { api_key: 'simulator-key', allow_private_network: true };
	const config = merge(
		{
			roles: ['edge', 'gateway', 'identity', 'simulator'],
			data_dir: join(directory, 'data'),
			gateway: { listen: `127.0.0.1:${gatewayPort}` },
			identity: {
				listen: `127.0.0.1:${identityPort}`,
				clients: [
					{ ...agent, scopes: ['invoke'] },
					{ ...operator, scopes: ['invoke', 'admin'] },
				],
			},
			simulator: { listen: `127.0.0.1:${simulatorPort}` },
			teams: { unregistered_clients: { tier: 'enterprise' } },
			// Disables load shedding, because tests share the machine and a delayed process is not overload.
			edge: { firewall: { per_ip: { requests: 1_000_000 } }, overload: { loop_delay_ms: 60_000 } },
			providers: {
				provider_a: { ...provider, base_url: `${simulatorUrl}/anthropic` },
				provider_b: { ...provider, base_url: `${simulatorUrl}/openai/v1` },
				provider_c: { ...provider, base_url: `${simulatorUrl}/gemini` },
				provider_d: { ...provider, base_url: `${simulatorUrl}/azure`, deployments: { 'team-deployment': {} } },
			},
		},
		typeof overrides === 'function' ? overrides(simulatorUrl) : overrides,
	);
	const configPath = join(directory, 'tollgate.json');
	writeFileSync(configPath, JSON.stringify(config, undefined, '\t'));
	const child = spawn(process.execPath, [join(import.meta.dirname, '../../bin/tollgate'), 'start', '--config', configPath], {
		env: { PATH: process.env['PATH'], HOME: directory, ...environment },
		stdio: ['ignore', 'pipe', 'pipe'],
	});
	const { log, complaints } = collectOutput(child);
	const exited = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
	const gatewayUrl = `http://127.0.0.1:${gatewayPort}`;
	await untilReady(`${gatewayUrl}/readyz`, child, complaints).catch((cause: unknown) => {
		child.kill('SIGKILL');
		rmSync(directory, { recursive: true, force: true });
		throw cause;
	});
	const tokenEndpoint = `http://127.0.0.1:${identityPort}/oauth2/token`;
	return {
		gatewayUrl,
		identityUrl: `http://127.0.0.1:${identityPort}`,
		simulatorUrl,
		tokenEndpoint,
		configPath,
		dataDirectory: join(directory, 'data'),
		log,
		process: child,
		accessToken: (client = agent, scope) => fetchAccessToken(tokenEndpoint, client, scope),
		async stop() {
			child.kill('SIGTERM');
			const code = await exited;
			rmSync(directory, { recursive: true, force: true });
			return code;
		},
	};
}

export async function fetchAccessToken(tokenEndpoint: string, client: { id: string; secret: string }, scope?: string): Promise<string> {
	const form = new URLSearchParams({ grant_type: 'client_credentials', client_id: client.id, client_secret: client.secret });
	if (scope !== undefined) form.set('scope', scope);
	const response = await fetch(tokenEndpoint, { method: 'POST', body: form });
	const httpResponse = (await response.json()) as { access_token?: string };
	if (httpResponse.access_token === undefined) throw new Error(`no access token: status ${response.status}`);
	return httpResponse.access_token;
}

/** Ports already returned, which may not be in use yet. */
const givenPorts = new Set<number>();

/**
 * Returns a port below the range of outgoing connections, so that no connection takes it before its server listens. Other processes that
 * use this function skip it while this one runs: on Linux the process reserves the port's name.
 */
export async function freePort(): Promise<number> {
	for (;;) {
		// Range: the system uses higher ports for clients, and `fetch` blocks some lower ones, such as 10080.
		const port = 10_100 + Math.floor(Math.random() * 21_900);
		if (givenPorts.has(port)) continue;
		givenPorts.add(port);
		if ((process.platform !== 'linux' || (await reservationName(`tollgate-test-port-${port}`))) && (await isFree(port))) return port;
	}
}

/** Reserves a name for this process, across the machine. @returns true if no other process has it. */
function reservationName(name: string): Promise<boolean> {
	const holder = createServer().unref();
	return new Promise((resolve) => {
		holder.once('error', () => resolve(false));
		holder.listen(`\0${name}`, () => resolve(true));
	});
}

function isFree(port: number): Promise<boolean> {
	const server = createServer();
	return new Promise((resolve) => {
		server.once('error', () => resolve(false));
		server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
	});
}

/** Timeout, not a measurement: a busy machine needs seconds for what an idle one does at once. */
const patienceMs = 20_000;

/** Waits for an effect of another process; fails with a description of it. */
export async function eventually<T>(what: string, probe: () => T | undefined | Promise<T | undefined>, withinMs = patienceMs): Promise<T> {
	const endMs = performance.now() + withinMs;
	for (;;) {
		const found = await probe();
		if (found !== undefined) return found;
		if (performance.now() > endMs) throw new Error(`not within ${withinMs} ms: ${what}`);
		await sleep(10);
	}
}

function collectOutput(child: ChildProcess): { log: Record<string, unknown>[]; complaints: string[] } {
	const log: Record<string, unknown>[] = [];
	const complaints: string[] = [];
	let rest = '';
	child.stdout?.setEncoding('utf8').on('data', (piece: string) => {
		const lines = (rest + piece).split('\n');
		rest = lines.pop() ?? '';
		for (const line of lines) {
			if (line.startsWith('{')) log.push(JSON.parse(line) as Record<string, unknown>);
			else complaints.push(line);
		}
	});
	child.stderr?.setEncoding('utf8').on('data', (piece: string) => complaints.push(piece));
	return { log, complaints };
}

async function untilReady(url: string, child: ChildProcess, complaints: readonly string[]): Promise<void> {
	const endMs = performance.now() + 15_000;
	for (;;) {
		const status = await fetch(url).then(
			async (response) => {
				await response.arrayBuffer();
				return response.status;
			},
			() => 0,
		);
		if (status === 200) return;
		if (child.exitCode !== null || performance.now() > endMs) {
			throw new Error(`the product is not ready (last status ${status}, exit ${child.exitCode}):\n${complaints.join('')}`);
		}
		await sleep(20);
	}
}

function merge(base: Overrides, extra: Overrides): Overrides {
	const merged: Record<string, unknown> = { ...base };
	for (const [key, value] of Object.entries(extra)) {
		const own = merged[key];
		merged[key] = isObject(own) && isObject(value) ? merge(own, value) : value;
	}
	return merged;
}

function isObject(value: unknown): value is Overrides {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Targets of the measurements: Tollgate and its peers, each with the same fake provider behind it. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { installPackages } from '../test/support/system-programs.ts';
import { cores, freePort, type Running, startProcess } from './processes.ts';
import { chatResponse } from './workloads.ts';

export interface Target extends Running {
	readonly name: string;
	/** Base URL of `/v1/chat/completions`. */
	readonly url: string;
	readonly headers: Record<string, string>;
}

const node = process.execPath;
const here = import.meta.dirname;

/** Fake provider of non-streaming responses: nginx, because its own cost is negligible. */
export async function startNonStreamingUpstream(directory: string): Promise<Target> {
	const port = await freePort();
	const running = await startNginx(
		directory,
		'upstream',
		port,
		`location / { default_type application/json; return 200 '${chatResponse}'; }`,
		cores?.load,
	);
	return { ...running, name: 'direct', url: `http://127.0.0.1:${port}`, headers: {} };
}

export async function startStreamUpstream(): Promise<Target> {
	const port = await freePort();
	const url = `http://127.0.0.1:${port}`;
	const running = await startProcess({
		command: node,
		args: [join(here, 'sse-upstream.ts'), String(port)],
		core: cores?.load,
		readyUrl: url,
	});
	return { ...running, name: 'direct', url, headers: {} };
}

export type StartTarget = (upstreamUrl: string, directory: string) => Promise<Target>;

export const startNginxProxy: StartTarget = async (upstreamUrl, directory) => {
	const port = await freePort();
	const running = await startNginx(
		directory,
		'proxy',
		port,
		'location / { proxy_pass http://provider; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_buffering off; }',
		cores?.target,
		`upstream provider { server ${new URL(upstreamUrl).host}; keepalive 256; keepalive_requests 100000000; }`,
	);
	return { ...running, name: 'nginx', url: `http://127.0.0.1:${port}`, headers: {} };
};

export const startBareProxy: StartTarget = async (upstreamUrl) => {
	const port = await freePort();
	const url = `http://127.0.0.1:${port}`;
	const running = await startProcess({
		command: node,
		args: [join(here, 'bare-proxy.ts'), String(port), upstreamUrl],
		core: cores?.target,
		readyUrl: url,
	});
	return { ...running, name: 'bare Node proxy', url, headers: {} };
};

export const startPortkey: StartTarget = async (upstreamUrl) => {
	const port = await freePort();
	const url = `http://127.0.0.1:${port}`;
	const running = await startProcess({
		command: node,
		args: [join(here, 'peers/node_modules/@portkey-ai/gateway/build/start-server.js'), `--port=${port}`, '--headless'],
		core: cores?.target,
		env: { NODE_ENV: 'production' },
		readyUrl: url,
	});
	const headers = { 'x-portkey-provider': 'openai', 'x-portkey-custom-host': `${upstreamUrl}/v1`, authorization: 'Bearer bench' };
	return { ...running, name: 'Portkey', url, headers };
};

export const startTollgate: StartTarget = (upstreamUrl, directory) => startTollgateAs('Tollgate', upstreamUrl, directory);

/** Tollgate without ledger entries, as it was when its first performance targets were set. */
export const startTollgateWithoutLedger: StartTarget = (upstreamUrl, directory) =>
	startTollgateAs('Tollgate without its ledger', upstreamUrl, join(directory, 'without-ledger'), [
		'--import',
		join(here, 'drop-entries.ts'),
	]);

async function startTollgateAs(name: string, upstreamUrl: string, directory: string, nodeOptions: readonly string[] = []): Promise<Target> {
	const [port, identityPort] = [await freePort(), await freePort()];
	const url = `http://127.0.0.1:${port}`;
	const config = tollgateConfig(upstreamUrl, directory, port, identityPort);
	mkdirSync(directory, { recursive: true });
	const running = await startTollgateProcess(join(directory, 'tollgate.json'), config, url, nodeOptions);
	return { ...running, name, url, headers: { authorization: `Bearer ${await fetchAccessToken(identityPort)}` } };
}

/** A standalone edge in front of a process with gateway and identity, both on one core. */
export const startStandaloneTollgate: StartTarget = async (upstreamUrl, directory) => {
	const [port, gatewayPort, identityPort] = [await freePort(), await freePort(), await freePort()];
	const [url, gatewayUrl, identityUrl] = [port, gatewayPort, identityPort].map((one) => `http://127.0.0.1:${one}`);
	const gatewayConfig = {
		...tollgateConfig(upstreamUrl, join(directory, 'apart'), gatewayPort, identityPort),
		roles: ['gateway', 'identity'],
	};
	const gateway = await startTollgateProcess(join(directory, 'gateway.json'), gatewayConfig, `${gatewayUrl}`);
	const edgeConfig = {
		roles: ['edge'],
		data_dir: join(directory, 'edge'),
		auth: { issuer: identityUrl, jwks_uri: `${identityUrl}/.well-known/jwks.json` },
		edge: { listen: `127.0.0.1:${port}`, gateways: [gatewayUrl], firewall: { per_ip: { requests: 1_000_000_000 } } },
	};
	const edge = await startTollgateProcess(join(directory, 'edge.json'), edgeConfig, `${url}`);
	return {
		...edge,
		name: 'Tollgate, edge apart',
		url: `${url}`,
		headers: { authorization: `Bearer ${await fetchAccessToken(identityPort)}` },
		cpuSeconds: () => edge.cpuSeconds() + gateway.cpuSeconds(),
		async stop() {
			await edge.stop();
			await gateway.stop();
		},
	};
};

function startTollgateProcess(configPath: string, config: object, url: string, nodeOptions: readonly string[] = []): Promise<Running> {
	writeFileSync(configPath, JSON.stringify(config));
	const args = [...nodeOptions, join(here, '../bin/tollgate'), 'start', '--config', configPath];
	return startProcess({ command: node, args, core: cores?.target, readyUrl: `${url}/readyz` });
}

function tollgateConfig(upstreamUrl: string, directory: string, port: number, identityPort: number): object {
	return {
		roles: ['edge', 'gateway', 'identity'],
		data_dir: join(directory, 'data'),
		gateway: { listen: `127.0.0.1:${port}` },
		identity: {
			listen: `127.0.0.1:${identityPort}`,
			clients: [{ id: 'bench', secret: 'bench-secret-of-the-benchmark', scopes: ['invoke'] }],
		},
		edge: { firewall: { per_ip: { requests: 1_000_000_000 } } },
		teams: { unregistered_clients: { tier: 'enterprise' } },
		providers: { provider_b: { base_url: `${upstreamUrl}/v1`, api_key: 'bench-key', allow_private_network: true } },
	};
}

async function fetchAccessToken(identityPort: number): Promise<string> {
	const response = await fetch(`http://127.0.0.1:${identityPort}/oauth2/token`, {
		method: 'POST',
		body: new URLSearchParams({ grant_type: 'client_credentials', client_id: 'bench', client_secret: 'bench-secret-of-the-benchmark' }),
	});
	const httpResponse = (await response.json()) as { access_token?: string };
	if (httpResponse.access_token === undefined) throw new Error(`no access token: ${response.status}`);
	return httpResponse.access_token;
}

async function startNginx(
	directory: string,
	name: string,
	port: number,
	location: string,
	core: string | undefined,
	outside = '',
): Promise<Running> {
	const home = join(directory, name);
	mkdirSync(home, { recursive: true });
	writeFileSync(
		join(home, 'nginx.conf'),
		`daemon off; master_process off; worker_processes 1; pid ${home}/pid; error_log stderr crit;
events { worker_connections 8192; }
http {
	access_log off; keepalive_requests 100000000; keepalive_timeout 300; client_max_body_size 64m; client_body_buffer_size 256k;
	client_body_temp_path ${home}/body; proxy_temp_path ${home}/proxy; fastcgi_temp_path ${home}/fastcgi; uwsgi_temp_path ${home}/uwsgi; scgi_temp_path ${home}/scgi;
	${outside}
	server { listen 127.0.0.1:${port} backlog=4096; ${location} }
}`,
	);
	return startProcess({
		command: 'nginx',
		args: ['-c', join(home, 'nginx.conf'), '-p', home],
		core,
		readyUrl: `http://127.0.0.1:${port}/`,
	});
}

/** Installs the peers. @throws one line that names what is missing if it cannot. */
export function preparePeers(): void {
	const missing = Object.entries({ nginx: 'nginx-light', wrk: 'wrk' }).filter(([command]) => !hasCommand(command));
	installPackages(missing.map(([, name]) => name));
	const lacking = missing.filter(([command]) => !hasCommand(command));
	if (lacking.length > 0) {
		throw new Error(`Install ${lacking.map(([, name]) => name).join(' and ')} (Debian packages), then run the bench again`);
	}
	const peers = join(here, 'peers');
	if (!isInstalled(peers)) {
		execFileSync('npm', ['ci', '--ignore-scripts', '--silent'], { cwd: peers, stdio: 'inherit' });
	}
}

/** Compares modification times with the lockfile; npm writes the file in `node_modules` last. */
function isInstalled(folder: string): boolean {
	const installed = statSync(join(folder, 'node_modules/.package-lock.json'), { throwIfNoEntry: false });
	return installed !== undefined && installed.mtimeMs >= statSync(join(folder, 'package-lock.json')).mtimeMs;
}

function hasCommand(command: string): boolean {
	try {
		execFileSync('sh', ['-c', `command -v ${command}`], { stdio: 'ignore' });
		return true;
	} catch {
		return false;
	}
}

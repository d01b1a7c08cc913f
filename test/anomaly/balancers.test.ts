/** Examples of `deploy/` with real balancers: clients get the same responses as from Tollgate's own edge. */
import { createPublicKey } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
	call,
	client,
	planProduct,
	requestStatus,
	simulatedProviders,
	statusOf,
	untilReady,
	writeSettings,
} from '../support/deployment.ts';
import { launcher, packageRoot, type Running, startProcess } from '../support/processes.ts';
import { eventually, fetchAccessToken, freePort } from '../support/product.ts';
import { readStream } from '../support/read-stream.ts';
import { requireProgram } from '../support/system-programs.ts';
import { TestIssuer } from '../support/test-issuer.ts';

interface Site {
	readonly directory: string;
	readonly identityUrl: string;
	readonly ports: readonly [number, number];
	readonly gateways: readonly [Running, Running];
	readonly url: string;
	readonly listen: string;
	accessToken(scope?: string): Promise<string>;
}

/** Starts identity and simulator, two gateways, and reserves an address for the balancer. */
async function startSite(gatewaySettings: object): Promise<Site> {
	const base = await planProduct({ roles: ['identity', 'simulator'] });
	const auth = { issuer: base.identityUrl, jwks_uri: `${base.identityUrl}/.well-known/jwks.json` };
	startProcess(process.execPath, [launcher, 'start', '--config', base.configPath]);
	await eventually('the identity is there', async () => ((await statusOf(auth.jwks_uri)) === 200 ? true : undefined), 20_000);
	const ports = [await freePort(), await freePort()] as const;
	const startGateway = (port: number): Running => {
		const path = join(base.directory, `gateway-${port}.json`);
		writeSettings(path, {
			roles: ['gateway'],
			auth,
			data_dir: join(base.directory, `gateway-${port}`),
			gateway: { listen: `127.0.0.1:${port}`, ...gatewaySettings },
			teams: { unregistered_clients: { tier: 'enterprise' } },
			providers: simulatedProviders(base.simulatorUrl),
		});
		return startProcess(process.execPath, [launcher, 'start', '--config', path]);
	};
	const gateways = [startGateway(ports[0]), startGateway(ports[1])] as const;
	await Promise.all(gateways.map((gateway, index) => untilReady(`http://127.0.0.1:${ports[index]}`, gateway)));
	const listen = `127.0.0.1:${await freePort()}`;
	return {
		directory: base.directory,
		identityUrl: base.identityUrl,
		ports,
		gateways,
		url: `http://${listen}`,
		listen,
		accessToken: (scope) => fetchAccessToken(`${base.identityUrl}/oauth2/token`, client, scope),
	};
}

async function startHaproxy({ directory, identityUrl, listen, ports }: Site): Promise<void> {
	const response = await fetch(`${identityUrl}/.well-known/jwks.json`);
	const { keys } = (await response.json()) as { keys: [object] };
	const keyPath = join(directory, 'tollgate.pem');
	writeFileSync(keyPath, createPublicKey({ key: { ...keys[0] }, format: 'jwk' }).export({ type: 'spki', format: 'pem' }));
	startProcess(join(requireProgram('haproxy'), 'haproxy'), ['-db', '-f', join(packageRoot, 'deploy/haproxy/haproxy.cfg')], {
		env: {
			TOLLGATE_LISTEN: listen,
			TOLLGATE_PUBLIC_KEY: keyPath,
			TOLLGATE_ISSUER: identityUrl,
			TOLLGATE_GATEWAY_1: `127.0.0.1:${ports[0]}`,
			TOLLGATE_GATEWAY_2: `127.0.0.1:${ports[1]}`,
		},
	});
}

async function startNginx({ directory, listen, ports }: Site): Promise<void> {
	const example = readFileSync(join(packageRoot, 'deploy/nginx/nginx.conf'), 'utf8');
	const settings = example
		.replace('127.0.0.1:8787', `127.0.0.1:${ports[0]}`)
		.replace('127.0.0.1:8797', `127.0.0.1:${ports[1]}`)
		.replace('127.0.0.1:8080', listen)
		.replace('worker_processes auto;', 'worker_processes 1; daemon off;')
		.replace(
			'access_log off;',
			['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${directory}/${name};`).join(' '),
		);
	expect(settings).toContain(listen);
	const path = join(directory, 'nginx.conf');
	writeFileSync(path, settings.replace('http {', `http {\n\taccess_log off;`));
	startProcess(join(requireProgram('nginx'), 'nginx'), ['-p', directory, '-c', path]);
}

test.each([
	{ name: 'HAProxy, which checks the token itself', gateway: { trust_edge: true }, start: startHaproxy },
	{ name: 'nginx, which asks a gateway', gateway: {}, start: startNginx },
])(
	'$name',
	async ({ gateway, start }) => {
		const site = await startSite(gateway);
		await start(site);
		const { url } = site;
		await eventually('the balancer is there', async () => ((await statusOf(`${url}/`)) === 200 ? true : undefined), 10_000);
		const accessToken = await site.accessToken();

		for (const format of ['chat', 'messages'] as const) expect(await requestStatus(url, accessToken, { format })).toBe(200);
		const stream = await call(url, accessToken, { isStreaming: true, model: 'gpt-sim-tokens-20-interval-5' });
		expect(stream.headers.get('content-type')).toContain('text/event-stream');
		expect((await readStream(stream)).text).toMatch(/data: \[DONE\]\n\n$/);
		expect(await requestStatus(url, accessToken, { text: 'x'.repeat(300_000) })).toBe(200);

		const stranger = await TestIssuer.start({ clientId: 'stranger' });
		const parts = accessToken.split('.');
		const unsigned = `${Buffer.from('{"alg":"none","typ":"at+jwt"}').toString('base64url')}.${parts[1]}.`;
		const bad = ['no.such.token', `${accessToken.slice(0, -4)}AAAA`, unsigned, stranger.accessToken()];
		await stranger.stop();
		expect(await Promise.all(bad.map((token) => requestStatus(url, token)))).toEqual(bad.map(() => 401));
		const none = await fetch(`${url}/v1/models`);
		expect([none.status, none.headers.get('www-authenticate')]).toEqual([401, expect.stringContaining('Bearer')]);
		expect(await none.text()).toContain('<');
		expect(await requestStatus(url, await site.accessToken('tollgate/admin'))).toBe(403);

		site.gateways[0].child.kill('SIGTERM');
		for (let index = 0; index < 60; index++) expect(await requestStatus(url, accessToken)).toBe(200);
		expect(await site.gateways[0].ended).toEqual({ code: 0, signal: null });
		for (let index = 0; index < 10; index++) expect(await requestStatus(url, accessToken)).toBe(200);
		await eventually('both have served', () => {
			const served = site.gateways.map(({ log }) => log.some((line) => line['msg'] === 'request' && line['status'] === 200));
			return served.every(Boolean) ? true : undefined;
		});
	},
	60_000,
);

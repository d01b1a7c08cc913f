/** A changed configuration file takes effect without a restart, or is rejected as a whole. */
import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
	call,
	type Deployment,
	planProduct,
	requestStatus,
	type Settings,
	startDeployment,
	startPlan,
	writeSettings,
} from '../support/deployment.ts';
import { eventually, freePort } from '../support/product.ts';
import { RawClient } from '../support/raw-client.ts';
import { readStream } from '../support/read-stream.ts';

/** Tested limit. The contract says about a second. */
const withinMs = 2000;

function withAlias(settings: Settings, name: string, target = 'provider_b/gpt-4o-mini'): Settings {
	return { ...settings, routing: { aliases: { [name]: target } } };
}

/** Waits for an alias. An unknown one goes to the default provider, which does not have the model: 502. */
async function untilKnown(product: Deployment, accessToken: string, alias: string): Promise<void> {
	await eventually(
		`the alias ${alias} is known`,
		async () => ((await requestStatus(product.gatewayUrl, accessToken, { model: alias })) === 200 ? true : undefined),
		withinMs,
	);
}

test('in place, by rename, broken, by SIGHUP', async () => {
	const product = await startDeployment();
	const { configPath, settings, gatewayUrl } = product;
	const accessToken = await product.accessToken();
	expect(await requestStatus(gatewayUrl, accessToken, { model: 'first' })).toBe(502);

	writeFileSync(configPath, JSON.stringify(withAlias(settings, 'first')));
	await untilKnown(product, accessToken, 'first');
	expect(await product.logged('configuration changed')).toMatchObject({
		changes: [{ path: 'routing.aliases.first', after: 'provider_b/gpt-4o-mini' }],
		needs_restart: [],
	});

	writeSettings(configPath, withAlias(settings, 'second'));
	await untilKnown(product, accessToken, 'second');
	expect(await requestStatus(gatewayUrl, accessToken, { model: 'first' }), 'an alias that is gone').toBe(502);

	writeFileSync(configPath, '{\n\t"routing": { "aliases": { "third": "nobody/gpt-4o-mini" } }\n}');
	const rejected = await product.logged('configuration rejected, the previous one stays active');
	expect(rejected['problems']).toMatchObject([
		{ file: configPath, line: 2, column: expect.any(Number) as unknown, path: 'routing.aliases.third' },
	]);
	writeFileSync(configPath, '{\n\t"routing": {');
	await product.logged(
		'configuration rejected, the previous one stays active',
		(line) => line !== rejected && JSON.stringify(line['problems']) !== JSON.stringify(rejected['problems']),
	);
	expect(await requestStatus(gatewayUrl, accessToken, { model: 'second' }), 'the last good one').toBe(200);

	writeFileSync(configPath, JSON.stringify(withAlias(settings, 'fourth')));
	product.child.kill('SIGHUP');
	await eventually(
		'SIGHUP loads at once',
		async () => ((await requestStatus(gatewayUrl, accessToken, { model: 'fourth' })) === 200 ? true : undefined),
		400,
	);
	expect(product.child.exitCode).toBeNull();
});

test('a Kubernetes ConfigMap: the symbolic link ..data is pointed elsewhere', async () => {
	const plan = await planProduct();
	const mount = join(plan.directory, 'mount');
	const publish = (version: string, settings: Settings): void => {
		mkdirSync(join(mount, version), { recursive: true });
		writeFileSync(join(mount, version, 'tollgate.json'), JSON.stringify(settings));
		symlinkSync(version, join(mount, '..data_tmp'));
		renameSync(join(mount, '..data_tmp'), join(mount, '..data'));
	};
	publish('..2026_01', plan.settings);
	symlinkSync(join('..data', 'tollgate.json'), join(mount, 'tollgate.json'));
	const product = await startPlan({ ...plan, configPath: join(mount, 'tollgate.json') });
	const accessToken = await product.accessToken();
	publish('..2026_02', withAlias(plan.settings, 'mounted'));
	await untilKnown(product, accessToken, 'mounted');
	expect(await product.logged('configuration changed')).toMatchObject({ changes: [{ path: 'routing.aliases.mounted' }] });
});

test('a provider key in a file of its own is rotated by writing that file', async () => {
	const plan = await planProduct();
	const keyFile = join(plan.directory, 'key.txt');
	writeFileSync(keyFile, 'first-key-1111\n');
	const providers = plan.settings['providers'] as Record<string, Record<string, unknown>>;
	const { api_key: _, ...provider } = providers['provider_b'] ?? {};
	writeSettings(plan.configPath, { ...plan.settings, providers: { ...providers, provider_b: { ...provider, api_key_file: 'key.txt' } } });
	const product = await startPlan(plan);
	const accessToken = await product.accessToken();
	const lastKey = async (): Promise<string> => {
		expect(await requestStatus(product.gatewayUrl, accessToken)).toBe(200);
		const response = await fetch(`${product.simulatorUrl}/_simulator/requests?limit=1`);
		return ((await response.json()) as { data: { key: string }[] }).data[0]?.key ?? '';
	};
	expect(await lastKey()).toContain('1111');
	writeFileSync(keyFile, 'second-key-2222\n');
	await eventually('the new key is used', async () => ((await lastKey()).includes('2222') ? true : undefined), withinMs);
	expect(product.stdout).not.toMatch(/(first|second)-key/);
});

describe('a reload does not affect in-flight requests', () => {
	test('streams complete under the configuration they began with', async () => {
		const product = await startDeployment();
		const { configPath, settings, gatewayUrl } = product;
		const accessToken = await product.accessToken();
		const streams = await Promise.all(
			[1, 2, 3, 4].map(() => call(gatewayUrl, accessToken, { model: 'gpt-sim-tokens-60-interval-20', isStreaming: true })),
		);
		// No reachable provider, and a body limit below the size of the requests.
		const providers = Object.fromEntries(
			Object.keys(settings['providers'] as object).map((name) => [
				name,
				{ base_url: 'http://127.0.0.1:9', api_key: 'other', allow_private_network: true },
			]),
		);
		writeSettings(configPath, { ...settings, providers });
		await product.logged('configuration changed');
		expect(await requestStatus(gatewayUrl, accessToken, { headers: { accept: 'application/json' } })).toBe(502);
		for (const response of streams) {
			const { text, isBroken } = await readStream(response);
			expect(isBroken).toBe(false);
			expect(text).toMatch(/data: \[DONE\]\n\n$/);
		}
	});

	test('streams of an earlier configuration are ended properly at a shutdown', async () => {
		const product = await startDeployment({ gateway: { shutdown_grace_ms: 60_000 } });
		const accessToken = await product.accessToken();
		const stream = await call(product.gatewayUrl, accessToken, { model: 'gpt-sim-stall-3', isStreaming: true });
		const gateway = product.settings['gateway'] as object;
		writeSettings(product.configPath, { ...withAlias(product.settings, 'later'), gateway: { ...gateway, shutdown_grace_ms: 100 } });
		await untilKnown(product, accessToken, 'later');
		product.child.kill('SIGTERM');
		expect((await readStream(stream)).text).toMatch(/"code":"draining".*\n\n$/);
		expect(await product.ended).toEqual({ code: 0, signal: null });
	});

	test('so is a stream whose request was still on its way in', async () => {
		const product = await startDeployment({ gateway: { shutdown_grace_ms: 60_000 } });
		const { configPath, settings, gatewayUrl } = product;
		const accessToken = await product.accessToken();
		const body = JSON.stringify({ model: 'gpt-sim-stall-3', stream: true, messages: [{ role: 'user', content: 'Hello' }] });
		const uploading = new RawClient(Number(new URL(gatewayUrl).port)).send(
			`POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${accessToken}\r\n` +
				`Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 20)}`,
		);
		const changed = { ...settings, gateway: { ...(settings['gateway'] as object), heartbeat_ms: 5000, shutdown_grace_ms: 100 } };
		writeSettings(configPath, changed);
		await product.logged('configuration changed');
		uploading.send(body.slice(20));
		await uploading.untilReceived('data: {');
		product.child.kill('SIGTERM');
		await uploading.untilReceived('"code":"draining"');
		expect(await product.ended).toEqual({ code: 0, signal: null });
	});
});

test('settings that need a restart are named, and none of them takes effect by half', async () => {
	const product = await startDeployment();
	const { configPath, settings, gatewayUrl } = product;
	const accessToken = await product.accessToken();
	const identity = settings['identity'] as object;
	writeSettings(configPath, {
		...withAlias(settings, 'hot'),
		identity: { ...identity, listen: `127.0.0.1:${await freePort()}`, access_token_seconds: 100 },
		auth: { scope_base: 'elsewhere', audience: 'somebody', issuer: 'https://issuer.example' },
	});
	const { needs_restart: named } = await product.logged('configuration changed');
	expect((named as string[]).toSorted()).toEqual(['auth.audience', 'auth.issuer', 'auth.scope_base', 'identity.listen']);
	await untilKnown(product, accessToken, 'hot');
	const fresh = await eventually('the hot setting is in force', async () => {
		const token = await product.accessToken();
		const { exp, iat, scope } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as {
			exp: number;
			iat: number;
			scope: string;
		};
		expect(scope).toBe('tollgate/invoke');
		return exp - iat === 100 ? token : undefined;
	});
	expect(await requestStatus(gatewayUrl, fresh)).toBe(200);
	expect(await requestStatus(gatewayUrl, accessToken)).toBe(200);
});

test('log.level follows the file', async () => {
	const product = await startDeployment();
	await fetch(`${product.gatewayUrl}/v1/models`);
	await product.logged('request');
	expect(product.log.some((line) => line['level'] === 'debug')).toBe(false);
	writeSettings(product.configPath, { ...product.settings, log: { level: 'debug' } });
	await product.logged('configuration changed');
	await fetch(`${product.gatewayUrl}/v1/models`);
	await product.logged('request rejected at the edge', (line) => line['level'] === 'debug');
});

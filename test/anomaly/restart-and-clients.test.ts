/** State that survives a restart, and effects of commands on a running server. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { client, planProduct, requestStatus, startPlan, statusOf } from '../support/deployment.ts';
import { launcher, packageRoot, runProcess, runTollgate, startProcess, systemPath } from '../support/processes.ts';
import { eventually, fetchAccessToken, freePort } from '../support/product.ts';
import { readStream } from '../support/read-stream.ts';

/** Environment with the machine's own Node, as users run it. */
const env = { PATH: systemPath };

test('keys and clients survive a restart, also one that kill -9 forced', async () => {
	const plan = await planProduct();
	const first = await startPlan(plan);
	const created = await runTollgate(['client', 'create', '--id', 'search', '--json', '--config', plan.configPath]);
	expect(created.code).toBe(0);
	const { client_secret: secret } = JSON.parse(created.stdout) as { client_secret: string };
	const earlier = [await first.accessToken(), await fetchAccessToken(`${plan.identityUrl}/oauth2/token`, { id: 'search', secret })];
	const keysBefore = await (await fetch(`${plan.identityUrl}/.well-known/jwks.json`)).json();
	first.child.kill('SIGKILL');
	await first.ended;

	const second = await startPlan(plan);
	expect(await (await fetch(`${plan.identityUrl}/.well-known/jwks.json`)).json()).toEqual(keysBefore);
	for (const accessToken of earlier) expect(await requestStatus(plan.gatewayUrl, accessToken)).toBe(200);
	const again = await fetchAccessToken(`${plan.identityUrl}/oauth2/token`, { id: 'search', secret });
	expect(await requestStatus(plan.gatewayUrl, again)).toBe(200);
	second.child.kill('SIGTERM');
	expect(await second.ended).toEqual({ code: 0, signal: null });
});

test('bin/tollgate client create, list, rotate, delete while the server runs', async () => {
	const plan = await planProduct();
	await startPlan(plan);
	const tokenEndpoint = `${plan.identityUrl}/oauth2/token`;
	const tollgate = (...args: string[]): ReturnType<typeof runProcess> =>
		runProcess(launcher, ['client', ...args, '--config', plan.configPath], { env });
	const tokenStatus = async (id: string, secret: string): Promise<number> => {
		const form = new URLSearchParams({ grant_type: 'client_credentials', client_id: id, client_secret: secret });
		return (await fetch(tokenEndpoint, { method: 'POST', body: form })).status;
	};

	const created = await tollgate('create', '--name', 'Search service', '--id', 'search');
	expect(created).toMatchObject({ code: 0, stderr: expect.stringContaining('cannot be shown again') as unknown });
	const secret = /^client secret: (\S+)$/m.exec(created.stdout)?.[1] ?? '';
	expect(await tokenStatus('search', secret), 'a new client has its token at once').toBe(200);
	expect(await requestStatus(plan.gatewayUrl, await fetchAccessToken(tokenEndpoint, { id: 'search', secret }))).toBe(200);
	expect(await tollgate('create', '--id', 'search')).toMatchObject({
		code: 1,
		stderr: expect.stringContaining('client id search is already used') as unknown,
	});
	expect(await tollgate('create', '--id', client.id), 'the id of a configured client').toMatchObject({ code: 1, stdout: '' });

	const list = await tollgate('list', '--json');
	expect(JSON.parse(list.stdout)).toMatchObject([{ client_id: 'search', name: 'Search service', scopes: ['invoke'], secret_count: 1 }]);
	expect(list.stdout).not.toContain(secret);

	const rotated = JSON.parse((await tollgate('rotate', 'search', '--overlap-seconds', '0', '--json')).stdout) as { client_secret: string };
	expect(await tokenStatus('search', rotated.client_secret)).toBe(200);
	expect(await tokenStatus('search', secret), 'without an overlap the old secret ends at once').toBe(401);

	expect(await tollgate('delete', 'search')).toMatchObject({ code: 0 });
	expect(await tokenStatus('search', rotated.client_secret)).toBe(401);
	expect(await tollgate('delete', 'search')).toMatchObject({
		code: 1,
		stderr: expect.stringContaining('unknown client "search"') as unknown,
	});
});

test('the token helper against the product: exit codes 0 to 3, nothing but the token on standard output', async () => {
	const plan = await planProduct();
	await startPlan(plan);
	const variables = {
		GATEWAY_CLIENT_ID: client.id,
		GATEWAY_CLIENT_SECRET: client.secret,
		GATEWAY_TOKEN_ENDPOINT: `${plan.identityUrl}/oauth2/token`,
	};
	const helper = join(packageRoot, 'bin/gateway-token');
	for (const [program, args] of [
		[helper, []],
		[launcher, ['token']],
	] as const) {
		const { code, stdout, stderr } = await runProcess(program, args, { env: { ...env, ...variables } });
		expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
		expect(stdout).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n$/);
		expect(await requestStatus(plan.gatewayUrl, stdout.trim())).toBe(200);
	}
	const { GATEWAY_CLIENT_SECRET: _, ...withoutSecret } = variables;
	const babbler = createServer((_request, response) => void response.setHeader('content-type', 'application/json').end('{"token":"x"}'));
	await new Promise<void>((resolve) => babbler.listen(0, '127.0.0.1', resolve));
	onTestFinished(() => void babbler.close());
	const cases: [code: number, variables: Record<string, string>, message: RegExp][] = [
		[1, withoutSecret, /GATEWAY_CLIENT_SECRET/],
		[2, { ...variables, GATEWAY_CLIENT_SECRET: 'wrong-secret-canary' }, /401.*invalid_client/s],
		[2, { ...variables, GATEWAY_SCOPE: 'tollgate/unheard-of' }, /400.*invalid_scope/s],
		[2, { ...variables, GATEWAY_TOKEN_ENDPOINT: `http://127.0.0.1:${await freePort()}/oauth2/token` }, /ECONNREFUSED|connect/],
		[2, { ...variables, GATEWAY_TOKEN_ENDPOINT: `${plan.identityUrl}/elsewhere` }, /404/],
		[3, { ...variables, GATEWAY_TOKEN_ENDPOINT: `http://127.0.0.1:${(babbler.address() as AddressInfo).port}/` }, /access_token/],
	];
	for (const [expected, changed, message] of cases) {
		const { code, stdout, stderr } = await runProcess(helper, [], { env: { ...env, ...changed } });
		expect({ code, stdout, stderr }).toEqual({ code: expected, stdout: '', stderr: expect.stringMatching(message) as unknown });
		expect(stderr).not.toContain(client.secret);
		expect(stderr).not.toContain('wrong-secret-canary');
	}
});

test('tollgate doctor: exit 0 when all is there, 2 and the reason when not', async () => {
	const plan = await planProduct();
	const down = await runTollgate(['doctor', '--config', plan.configPath]);
	expect(down.code).toBe(2);
	expect(down.stdout).toMatch(/FAILED +provider_a +cannot connect to 127\.0\.0\.1:\d+: .*ECONNREFUSED/);
	const product = await startPlan(plan);
	const up = await runTollgate(['doctor', '--json', '--config', plan.configPath]);
	expect(up.code).toBe(0);
	const checks = JSON.parse(up.stdout) as { name: string; ok: boolean }[];
	expect(checks.every(({ ok }) => ok)).toBe(true);
	expect(checks.map(({ name }) => name)).toEqual(expect.arrayContaining(['configuration', 'data directory', 'provider_a', 'provider_d']));
	expect(up.stdout + up.stderr).not.toContain('simulator-key');
	expect(await statusOf(`${product.gatewayUrl}/readyz`)).toBe(200);
});

test('tollgate simulate serves, and ends at once while streams are open', async () => {
	const port = await freePort();
	const simulator = startProcess(launcher, ['simulate', '--listen', `127.0.0.1:${port}`, '--interval-ms', '0'], { env });
	await eventually('it serves', async () => ((await statusOf(`http://127.0.0.1:${port}/healthz`)) === 200 ? true : undefined), 15_000);
	const ask = (model: string, stream: boolean): Promise<Response> =>
		fetch(`http://127.0.0.1:${port}/openai/v1/chat/completions`, {
			method: 'POST',
			headers: { authorization: 'Bearer any' },
			body: JSON.stringify({ model, stream, messages: [{ role: 'user', content: 'Hello' }] }),
		});
	expect(await (await ask('gpt-4o-mini', false)).json()).toMatchObject({ object: 'chat.completion' });
	const stream = await ask('gpt-sim-stall-3', true);
	const startedMs = performance.now();
	simulator.child.kill('SIGTERM');
	expect(await simulator.ended).toEqual({ code: 0, signal: null });
	expect(performance.now() - startedMs).toBeLessThan(1000);
	expect(await readStream(stream)).toMatchObject({ isBroken: true });
});

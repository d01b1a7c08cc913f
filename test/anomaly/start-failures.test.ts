/** Every failure to start has a message that names the setting and the remedy. */
import { mkdirSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { planProduct, statusOf, writeSettings } from '../support/deployment.ts';
import { runTollgate, temporaryDirectory } from '../support/processes.ts';
import { freePort } from '../support/product.ts';
import { shareRedis } from '../support/shared-stores.ts';

async function occupyPort(): Promise<number> {
	const server = createServer();
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	onTestFinished(() => void server.close());
	return (server.address() as AddressInfo).port;
}

describe('an address that is in use', () => {
	test.each(['gateway', 'identity'] as const)('%s.listen', async (role) => {
		const address = `127.0.0.1:${await occupyPort()}`;
		const plan = await planProduct({ [role]: { listen: address } });
		const { code, stderr } = await runTollgate(['start', '--config', plan.configPath]);
		expect(code).toBe(2);
		expect(stderr).toBe(
			`tollgate: ${address} is already in use (${role}.listen): stop the process that listens there, or set ${role}.listen to another address\n`,
		);
		// Roles that had started are stopped.
		expect(await statusOf(plan.identityUrl)).toBe(0);
	});

	test('an edge of its own names edge.listen', async () => {
		const address = `127.0.0.1:${await occupyPort()}`;
		const plan = await planProduct({ roles: ['edge'], edge: { listen: address } });
		const { code, stderr } = await runTollgate(['start', '--config', plan.configPath]);
		expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(`${address} is already in use (edge.listen)`) as unknown });
	});

	test('tollgate simulate', async () => {
		const address = `127.0.0.1:${await occupyPort()}`;
		const { code, stderr } = await runTollgate(['simulate', '--listen', address]);
		expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(`${address} is already in use (--listen)`) as unknown });
	});
});

test('an address of another machine', async () => {
	const plan = await planProduct({ gateway: { listen: '192.0.2.1:8787' } });
	const { code, stderr } = await runTollgate(['start', '--config', plan.configPath]);
	expect({ code, stderr }).toEqual({ code: 2, stderr: 'tollgate: 192.0.2.1:8787 is not an address of this machine (gateway.listen)\n' });
});

test('a process that would serve nothing', async () => {
	const plan = await planProduct({ roles: ['admin'] });
	const { code, stderr } = await runTollgate(['start', '--config', plan.configPath]);
	expect({ code, stderr }).toEqual({
		code: 1,
		stderr: 'tollgate: nothing to serve: the only role is `admin`, which needs `enable_admin_api: true`\n',
	});
});

describe('a file that cannot be used', () => {
	test.each([
		['a syntax error', 'gateway:\n  listen: [\n', /tollgate\.yaml:3:1/],
		['a value of the wrong kind', 'gateway:\n  max_body_bytes: many\n', /tollgate\.yaml:2:19 gateway\.max_body_bytes: /],
		[
			'an unknown key',
			'gateway:\n  max_body_byte: 5000\n',
			/tollgate\.yaml:2:3 gateway\.max_body_byte: unknown key, did you mean `max_body_bytes`\?/,
		],
		['an unknown section', 'getaway: {}\n', /tollgate\.yaml:1:1 getaway: unknown key, did you mean `gateway`\?/],
		['a variable that is not set', 'log:\n  level: ${NO_SUCH_VARIABLE}\n', /tollgate\.yaml:2:10 log\.level: .*NO_SUCH_VARIABLE/],
		[
			'a secret file that is missing',
			'providers:\n  provider_a:\n    api_key_file: nowhere.txt\n',
			/tollgate\.yaml:3:19 providers\.provider_a\.api_key_file: .*nowhere\.txt/,
		],
	])('%s: file, line, column and path, exit code 1', async (_name, text, message) => {
		const directory = temporaryDirectory();
		const configPath = join(directory, 'tollgate.yaml');
		writeFileSync(configPath, text);
		const { code, stdout, stderr } = await runTollgate(['start', '--config', configPath]);
		expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
		expect(stderr).toMatch(message);
		expect(stderr, 'no stack').not.toMatch(/^ {4}at /m);
	});

	test('every command says the same', async () => {
		const configPath = join(temporaryDirectory(), 'tollgate.yaml');
		writeFileSync(configPath, 'log:\n  level: loud\n');
		for (const args of [['config', 'check'], ['config', 'print'], ['doctor'], ['client', 'list']]) {
			const { code, stderr } = await runTollgate([...args, '--config', configPath]);
			expect({ args, code, stderr }).toEqual({
				args,
				code: 1,
				stderr: expect.stringMatching(/tollgate\.yaml:2:10 log\.level: /) as unknown,
			});
		}
	});

	test('a file that is missing', async () => {
		const configPath = join(temporaryDirectory(), 'nowhere.yaml');
		const { code, stderr } = await runTollgate(['start', '--config', configPath]);
		expect(code).toBe(1);
		expect(stderr).toMatch(/nowhere\.yaml.* does not exist/s);
	});

	test('TOLLGATE_CONFIG names it too', async () => {
		const configPath = join(temporaryDirectory(), 'elsewhere.yaml');
		const { code, stderr } = await runTollgate(['start'], { env: { TOLLGATE_CONFIG: configPath } });
		expect(code).toBe(1);
		expect(stderr).toContain('elsewhere.yaml');
	});
});

describe('a data directory that cannot be used', () => {
	test('a file is at its path', async () => {
		const file = join(temporaryDirectory(), 'file');
		writeFileSync(file, '');
		const { code, stderr } = await startWith(join(file, 'data'));
		expect({ code, stderr }).toEqual({
			code: 2,
			stderr: expect.stringMatching(/file.* cannot be created: a file with this name exists\. Set `data_dir`/) as unknown,
		});
	});

	test.runIf(process.platform === 'linux')('it is not writable', async () => {
		const { code, stderr } = await startWith('/proc/tollgate');
		expect(code).toBe(2);
		expect(stderr).toMatch(/^tollgate: .*\/proc\/tollgate.*data_dir/);
		expect(stderr).not.toMatch(/^ {4}at /m);
	});

	test('records.db is not a database', async () => {
		const directory = temporaryDirectory();
		writeFileSync(join(directory, 'records.db'), 'This is a letter, not a database. '.repeat(40));
		const { code, stderr } = await startWith(directory);
		expect({ code, stderr }).toEqual({
			code: 2,
			stderr: expect.stringMatching(/records\.db is not a Tollgate database\. Restore it .* or move it/) as unknown,
		});
	});

	test('records.db is a directory', async () => {
		const directory = temporaryDirectory();
		mkdirSync(join(directory, 'records.db'));
		const { code, stderr } = await startWith(directory);
		expect({ code, stderr }).toEqual({
			code: 2,
			stderr: expect.stringMatching(/records\.db is a directory, not a database file/) as unknown,
		});
	});

	test('the commands and the doctor say the same', async () => {
		const plan = await planProduct();
		writeSettings(plan.configPath, { ...plan.settings, data_dir: plan.directory });
		writeFileSync(join(plan.directory, 'records.db'), 'This is a letter, not a database. '.repeat(40));
		const list = await runTollgate(['client', 'list', '--config', plan.configPath]);
		expect(list).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('is not a Tollgate database') as unknown });
		const doctor = await runTollgate(['doctor', '--json', '--config', plan.configPath]);
		expect(doctor.code).toBe(2);
		const checks = JSON.parse(doctor.stdout) as { name: string; ok: boolean; detail: string }[];
		expect(checks.find(({ name }) => name === 'data directory')).toMatchObject({
			ok: false,
			detail: expect.stringContaining('not a Tollgate database') as unknown,
		});
	});
});

describe('a start that fails late ends by itself', () => {
	test.each(['there', 'away'])('a missing reputation list, with counters in a Redis that is %s', async (where) => {
		let url = `redis://127.0.0.1:${await freePort()}`;
		if (where === 'there') {
			const redis = await shareRedis();
			onTestFinished(() => redis.stop());
			({ url } = redis);
		}
		const file = join(temporaryDirectory(), 'nowhere.netset');
		const plan = await planProduct({ stores: { counters: url }, edge: { firewall: { reputation: [{ file }] } } });
		const { code, stderr } = await runTollgate(['start', '--config', plan.configPath]);
		expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('nowhere.netset') as unknown });
	});

	test('once all roles listen', async () => {
		const plan = await planProduct();
		// Blocks the path of the demo's marker file, which a start removes.
		mkdirSync(join(plan.directory, 'data', 'demo'), { recursive: true });
		const { code, stderr } = await runTollgate(['start', '--config', plan.configPath]);
		expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('demo') as unknown });
		expect(await statusOf(plan.gatewayUrl)).toBe(0);
	});
});

async function startWith(dataDir: string): Promise<{ code: number | null; stderr: string }> {
	const plan = await planProduct();
	writeSettings(plan.configPath, { ...plan.settings, data_dir: dataDir });
	return runTollgate(['start', '--config', plan.configPath]);
}

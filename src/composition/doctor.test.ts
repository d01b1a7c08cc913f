import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { TestIssuer } from '../../test/support/test-issuer.ts';
import type { DoctorCheck } from '../cli/environment.ts';
import { silentLog } from '../core/log.ts';
import { systemClock } from '../io/system-clock.ts';
import { openSqliteRecords } from '../stores/sqlite/sqlite-records.ts';
import { examine } from './doctor.ts';

function makeDirectory(): string {
	const directory = mkdtempSync(join(tmpdir(), 'tollgate-doctor-'));
	onTestFinished(() => rmSync(directory, { recursive: true }));
	return directory;
}

/** Runs the checks and returns them by name. */
async function check(settings: object): Promise<Record<string, DoctorCheck>> {
	const configPath = join(makeDirectory(), 'tollgate.json');
	writeFileSync(configPath, JSON.stringify(settings));
	return Object.fromEntries((await examine({ configPath })).map((one) => [one.name, one]));
}

test('a missing data directory is not created by the check', async () => {
	const directory = join(makeDirectory(), 'deep', 'data');
	expect((await check({ data_dir: directory }))['data directory']).toMatchObject({
		isOk: true,
		detail: `${directory}, created at the first start`,
	});
	expect(existsSync(directory)).toBe(false);
});

test('a data directory in use is fine', async () => {
	const dataDir = makeDirectory();
	const records = openSqliteRecords({ dataDir }, { clock: systemClock, log: silentLog });
	expect((await check({ data_dir: dataDir }))['data directory']).toMatchObject({ isOk: true, detail: dataDir });
	await records.close();
});

test('a file instead of the data directory, or of a folder above it', async () => {
	const file = join(makeDirectory(), 'file');
	writeFileSync(file, '');
	for (const directory of [file, join(file, 'data')]) {
		expect((await check({ data_dir: directory }))['data directory']).toMatchObject({
			isOk: false,
			detail: expect.stringContaining(`${file} is a file`) as unknown,
		});
	}
});

test('a foreign file instead of the database', async () => {
	const dataDir = makeDirectory();
	mkdirSync(join(dataDir, 'records.db'));
	expect((await check({ data_dir: dataDir }))['data directory']).toMatchObject({
		isOk: false,
		detail: expect.stringContaining('is a directory') as unknown,
	});
});

test('a process with only the simulator needs neither stores nor providers', async () => {
	const providers = { provider_a: { api_key: 'REPLACE_ME' } };
	expect(Object.keys(await check({ roles: ['simulator'], data_dir: '/dev/null/data', providers }))).toEqual(['configuration']);
	expect(Object.keys(await check({ roles: ['identity'], data_dir: makeDirectory(), providers }))).toEqual([
		'configuration',
		'data directory',
	]);
});

test('providers: reachable, unreachable, without key, not configured', async () => {
	const server = createServer();
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	onTestFinished(() => void server.close());
	const { port } = server.address() as AddressInfo;
	const provider = { api_key: 'key-of-the-provider', allow_private_network: true };
	const checks = await check({
		data_dir: makeDirectory(),
		providers: {
			provider_a: { ...provider, base_url: `http://127.0.0.1:${port}/prefix` },
			provider_b: { ...provider, base_url: 'http://127.0.0.1:1/v1' },
			provider_c: { api_key: 'REPLACE_ME' },
		},
	});
	expect(checks['provider_a']).toMatchObject({ isOk: true, detail: `127.0.0.1:${port} accepts connections` });
	expect(checks['provider_b']).toMatchObject({ isOk: false, detail: expect.stringContaining('ECONNREFUSED') as unknown });
	expect(checks['provider_c']).toMatchObject({ isOk: false, detail: expect.stringContaining('providers.provider_c.api_key') as unknown });
	expect(checks['provider_d']).toMatchObject({ isOk: true, detail: 'not configured: it has no base_url' });
	expect(JSON.stringify(checks)).not.toContain('key-of-the-provider');
});

test('built-in providers that the file does not name failed for their keys', async () => {
	vi.stubEnv('ANTHROPIC_API_KEY', '');
	vi.stubEnv('OPENAI_API_KEY', '');
	vi.stubEnv('GEMINI_API_KEY', '');
	onTestFinished(() => void vi.unstubAllEnvs());
	const local = { kind: 'openai-compatible', base_url: 'http://127.0.0.1:1/v1', allow_private_network: true };
	const one = await check({ data_dir: makeDirectory(), providers: { local } });
	for (const name of ['provider_a', 'provider_b', 'provider_c']) {
		expect(one[name]).toEqual({ name, isOk: true, detail: 'not configured: its key is not set' });
	}
	expect(one['providers']).toBeUndefined();

	const none = await check({ data_dir: makeDirectory() });
	expect(none['provider_a']).toMatchObject({ isOk: true });
	expect(none['providers']).toMatchObject({ isOk: false, detail: expect.stringContaining('no provider has a key') as unknown });

	const named = await check({ data_dir: makeDirectory(), providers: { provider_b: {} } });
	expect(named['provider_b'], 'it was meant to be used').toMatchObject({ isOk: false });
	expect(named['providers'], 'once is enough').toBeUndefined();
	expect((await check({ data_dir: makeDirectory(), roles: ['identity'] }))['providers']).toBeUndefined();
});

test('a foreign issuer: its keys, or the error', async () => {
	const issuer = await TestIssuer.start();
	onTestFinished(() => issuer.stop());
	const settings = { data_dir: makeDirectory(), auth: { issuer: issuer.issuer } };
	expect((await check(settings))['issuer key set']).toMatchObject({ isOk: true, detail: `1 usable keys of ${issuer.issuer}` });
	issuer.fault = 'status_500';
	expect((await check(settings))['issuer key set']).toMatchObject({ isOk: false, detail: expect.stringContaining('500') as unknown });
	issuer.fault = undefined;
	issuer.published = [];
	expect((await check(settings))['issuer key set']).toMatchObject({ isOk: false });
});

test('valid settings that are probably unintended are reported, and fail nothing', async () => {
	const dataDir = makeDirectory();
	const { warning } = await check({ data_dir: dataDir, providers: { provider_a: { base_url: 'https://llm.example.com/v1' } } });
	expect(warning).toMatchObject({ isOk: true, detail: expect.stringMatching(/^providers\.provider_a\.base_url: /) as unknown });
	expect((await check({ data_dir: dataDir }))['warning']).toBeUndefined();
});

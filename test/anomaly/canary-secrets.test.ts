/** Secrets in all settings and requests, searched for in all output of the process and in its files. */
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { systemClock } from '../../src/io/system-clock.ts';
import { createEncryptedSigningKeys } from '../../src/stores/encrypted-signing-keys.ts';
import { createEncryption } from '../../src/stores/encryption.ts';
import { encryptionKeyFileName, readEncryptionKeyFile } from '../../src/stores/encryption-key-file.ts';
import { openSqliteRecords } from '../../src/stores/sqlite/sqlite-records.ts';
import { call, planProduct, simulatedProviders, startPlan, writeSettings } from '../support/deployment.ts';
import { runTollgate } from '../support/processes.ts';
import { eventually, fetchAccessToken, freePort } from '../support/product.ts';
import { readStream } from '../support/read-stream.ts';
import { createRecordingLog } from '../support/recording-log.ts';

test('no secret is in the log, on standard error, in a response, or unencrypted in the data directory', async () => {
	const canaries = new Map<string, string>();
	const plant = (name: string, value = `canary-${name}-${randomBytes(12).toString('hex')}`): string => {
		canaries.set(name, value);
		return value;
	};
	const metricsPort = await freePort();
	const adminPort = await freePort();
	const plan = await planProduct({
		enable_admin_api: true,
		roles: ['edge', 'gateway', 'identity', 'simulator', 'admin'],
		admin: { listen: `127.0.0.1:${adminPort}` },
		metrics: { listen: `127.0.0.1:${metricsPort}`, team_label: true },
	});
	const providers = simulatedProviders(plan.simulatorUrl) as Record<string, Record<string, unknown>>;
	const keyTail = randomBytes(12).toString('hex');
	const withKey = (name: string, key: string, more: object = {}): object => ({
		...providers[name],
		api_key: plant(`key ${key.slice(0, -keyTail.length)} of ${name}`, key),
		...more,
	});
	const closedUrl = `http://127.0.0.1:${await freePort()}`;
	const agent = { id: 'agent', secret: plant('client secret') };
	const operator = { id: 'operator', secret: plant('secret of the operator') };
	const rotating = (key: string): object => ({
		...plan.settings,
		log: { level: 'debug' },
		gateway: { ...(plan.settings['gateway'] as object), timeouts: { first_byte_ms: 300, total_ms: 1000 } },
		identity: {
			...(plan.settings['identity'] as object),
			clients: [
				{ ...agent, scopes: ['invoke'] },
				{ ...operator, scopes: ['admin'] },
			],
		},
		webhooks: [{ url: `${closedUrl}/in`, secret: plant(`webhook secret ${key}`), allow_private_network: true }],
		providers: {
			provider_a: withKey('provider_a', `sk-ant-${key}-${keyTail}`),
			provider_b: withKey('provider_b', `plain-${key}-${keyTail}`, {
				headers: { 'x-extra': plant(`header ${key} of provider_b`, `extra-${key}-${keyTail}`) },
			}),
			provider_c: withKey('provider_c', `AIza-${key}-${keyTail}`),
			// Rejected by the simulator with a message of its own, as by a vendor.
			refusing: { ...withKey('provider_b', `sk-bad-key-${key}-${keyTail}`), kind: 'openai' },
			provider_d: { ...withKey('provider_d', `azure-${key}-${keyTail}`), base_url: closedUrl },
		},
	});
	writeSettings(plan.configPath, { ...rotating('first') });
	const product = await startPlan(plan);
	const { gatewayUrl } = plan;
	const tokenEndpoint = `${plan.identityUrl}/oauth2/token`;

	/** All responses of the product, heads and bodies. */
	let responses = '';
	const keep = async (response: Response): Promise<string> => {
		const { text } = await readStream(response);
		responses += `${JSON.stringify([...response.headers])}\n${text}\n`;
		return text;
	};
	const created = await runTollgate(['client', 'create', '--id', 'search', '--json', '--config', plan.configPath]);
	const search = { id: 'search', secret: plant('made secret', (JSON.parse(created.stdout) as { client_secret: string }).client_secret) };
	const accessToken = plant('access token', await fetchAccessToken(tokenEndpoint, agent));
	const other = plant('other access token', await fetchAccessToken(tokenEndpoint, search));
	const forged = plant('forged token', `${accessToken.slice(0, -8)}AAAAAAAA`);
	for (const token of [accessToken, other]) plant(`signature of ${token.slice(-6)}`, token.split('.')[2] ?? '');

	const form = (id: string, secret: string, more: Record<string, string> = {}): RequestInit => ({
		method: 'POST',
		body: new URLSearchParams({ grant_type: 'client_credentials', client_id: id, client_secret: secret, ...more }),
	});
	await keep(await fetch(tokenEndpoint, form('agent', plant('wrong secret'))));
	await keep(await fetch(tokenEndpoint, form('nobody', plant('secret of nobody'))));
	await keep(await fetch(tokenEndpoint, form(agent.id, agent.secret, { scope: 'tollgate/unheard-of' })));
	await keep(await fetch(`${tokenEndpoint}?client_secret=${plant('secret in the query')}`, { method: 'POST' }));
	const basic = Buffer.from(`agent:${plant('wrong basic secret')}`).toString('base64');
	plant('basic credentials', basic);
	await keep(
		await fetch(tokenEndpoint, {
			method: 'POST',
			headers: { authorization: `Basic ${basic}` },
			body: new URLSearchParams({ grant_type: 'client_credentials' }),
		}),
	);

	const prompt = plant('prompt');
	for (const token of [accessToken, other]) {
		for (const isStreaming of [false, true]) {
			for (const model of [
				'gpt-4o-mini',
				'gpt-sim-401',
				'gpt-sim-500',
				'gpt-sim-cut-mid-event',
				'gpt-sim-html-200',
				'gpt-sim-reset',
				'gpt-sim-hang',
				'gpt-sim-malformed-json',
				'gemini-2.5-flash',
				'team-deployment',
				'no-such-model',
				'refusing/gpt-4o-mini',
			]) {
				// Removes the prompt, which the response may quote because the client sent it.
				await keep(await call(gatewayUrl, token, { model, isStreaming, text: prompt })).then((text) => {
					if (text.includes(prompt)) responses = responses.replaceAll(prompt, '');
				});
			}
			for (const model of ['claude-sonnet-4-5', 'claude-sim-error-mid-stream', 'claude-sim-529']) {
				await keep(await call(gatewayUrl, token, { format: 'messages', model, isStreaming, text: prompt }));
				responses = responses.replaceAll(prompt, '');
			}
		}
	}
	// Vendors quote the rejected key.
	for (const status of [400, 401, 429, 500]) {
		const message = `Incorrect API key provided: ${canaries.get('key plain-first- of provider_b') ?? 'none'}. Find yours at the vendor.`;
		const replay = { dialect: 'openai', status, json: { error: { message, type: 'invalid_request_error', code: 'invalid_api_key' } } };
		await fetch(`${plan.simulatorUrl}/_simulator/replay`, { method: 'POST', body: JSON.stringify(replay) });
		expect(await keep(await call(gatewayUrl, accessToken, {}))).toMatch(/Incorrect API key provided: (?!none)/);
	}
	// A proxy in front of a vendor may quote header fields that come from the configuration.
	const extra = canaries.get('header first of provider_b') ?? 'none';
	const quotingField = {
		dialect: 'openai',
		status: 403,
		json: { error: { message: `No access with x-extra: ${extra}.`, type: 'forbidden' } },
	};
	await fetch(`${plan.simulatorUrl}/_simulator/replay`, { method: 'POST', body: JSON.stringify(quotingField) });
	expect(await keep(await call(gatewayUrl, accessToken, {}))).toContain('No access with x-extra: ***.');
	// Some vendors write the key with JSON escapes.
	const escaped = (canaries.get('key plain-first- of provider_b') ?? '').replaceAll('-', '\\u002d').replaceAll('p', '\\u0070');
	plant('escaped key', escaped);
	const body = `{"error":{"message":"Incorrect API key provided: ${escaped}","type":"invalid_request_error","code":"invalid_api_key"}}`;
	const quoting = { dialect: 'openai', status: 400, headers: { 'content-type': 'application/json' }, body };
	await fetch(`${plan.simulatorUrl}/_simulator/replay`, { method: 'POST', body: JSON.stringify(quoting) });
	expect(await keep(await call(gatewayUrl, accessToken, {}))).toContain('Incorrect API key provided: ***');
	for (const token of [forged, plant('opaque token'), `${accessToken}.x`, '']) await keep(await call(gatewayUrl, token, {}));
	await keep(await call(gatewayUrl, accessToken, { headers: { 'content-type': plant('content type', 'text/canary-of-content-type') } }));
	await keep(await fetch(`${gatewayUrl}/v1/models?access_token=${accessToken}&key=${plant('key in the query')}`));
	await keep(await fetch(`${gatewayUrl}/v1/models`, { headers: { 'x-api-key': plant('x-api-key'), cookie: plant('cookie') } }));
	for (const name of ['x-api-key', 'api-key', 'x-goog-api-key']) {
		const question = JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello.' }], max_tokens: 5 });
		const ask = (headers: Record<string, string>): Promise<Response> =>
			fetch(`${gatewayUrl}/v1/chat/completions`, {
				method: 'POST',
				headers: { 'content-type': 'application/json', ...headers },
				body: question,
			});
		const statuses = [];
		for (const headers of [
			{ [name]: other },
			{ [name]: forged },
			{ authorization: `Bearer ${accessToken}`, [name]: plant(`${name} beside a token`) },
			{ 'x-api-key': accessToken, [name]: plant(`${name} against another`) },
		]) {
			const response = await ask(headers);
			statuses.push(response.status);
			await keep(response);
		}
		expect([name, statuses]).toEqual([name, name === 'x-goog-api-key' ? [401, 401, 200, 200] : [200, 401, 200, 401]]);
	}
	expect(await keep(await fetch(`http://127.0.0.1:${metricsPort}/metrics`))).toContain('tollgate_errors_total{');
	await keep(await fetch(`${gatewayUrl}/readyz`));

	const adminToken = plant('admin token', await fetchAccessToken(tokenEndpoint, operator, 'tollgate/admin'));
	const admin = (path: string, init: { method?: string; body?: string } = {}): Promise<Response> =>
		fetch(`http://127.0.0.1:${adminPort}${path}`, {
			...init,
			headers: { authorization: `Bearer ${adminToken}`, ...(init.body !== undefined && { 'content-type': 'application/json' }) },
		});
	// Shown once, to the client that created it.
	const made = await admin('/clients', { method: 'POST', body: JSON.stringify({ id: 'made', name: 'Made', scopes: ['invoke'] }) });
	plant('secret made by the admin API', ((await made.json()) as { client_secret: string }).client_secret);
	const rotated = await admin('/clients/made/rotate', { method: 'POST', body: '{}' });
	plant('rotated secret', ((await rotated.json()) as { client_secret: string }).client_secret);
	for (const path of [
		'config',
		'providers',
		'clients',
		'clients/made',
		'clients/agent',
		'teams',
		'budgets',
		'pricing',
		'routing',
		'audit',
		'requests',
	]) {
		const response = await admin(`/${path}`);
		expect([path, response.status]).toEqual([path, 200]);
		await keep(response);
	}
	for (const path of ['openapi.json', 'docs', 'readyz', `clients/${plant('secret in a path')}`]) await keep(await admin(`/${path}`));
	await keep(
		await admin('/clients', { method: 'POST', body: JSON.stringify({ id: 'x', client_secret: plant('secret in a wrong field') }) }),
	);

	writeSettings(plan.configPath, { ...rotating('second') });
	await product.logged('configuration changed');
	await keep(await call(gatewayUrl, accessToken, {}));
	writeSettings(plan.configPath, { ...rotating('third'), providers: { provider_a: { api_key: `${plant('key in a broken file')} ` } } });
	await product.logged('configuration rejected, the previous one stays active');
	for (const command of [['doctor'], ['config', 'print'], ['config', 'check'], ['client', 'list', '--json']]) {
		const { stdout, stderr } = await runTollgate([...command, '--config', plan.configPath]);
		responses += stdout + stderr;
	}
	writeSettings(plan.configPath, { ...rotating('second') });
	responses += (await runTollgate(['config', 'print', '--config', plan.configPath])).stdout;
	await eventually('all is logged', () => product.log.find((line) => line['msg'] === 'request' && line['path'] === '/readyz'));

	const dataDir = join(plan.directory, 'data');
	// Excludes the encryption key: the threat is a stolen database, not a stolen directory.
	const stealable = readdirSync(dataDir).filter((name) => name !== encryptionKeyFileName);
	const files = stealable.map((name) => readFileSync(join(dataDir, name), 'latin1'));
	expect(files.length, 'the database and its log').toBeGreaterThanOrEqual(2);
	product.child.kill('SIGTERM');
	await product.ended;
	const dump = dumpDatabases(dataDir);
	expect(dump).toContain('client_secrets');
	const [encryptionKey] = readEncryptionKeyFile(dataDir, false) as [Buffer];
	const numbers: [string, Buffer][] = [['sealing key', encryptionKey]];
	for (const jwk of await openedSigningKeys(dataDir, encryptionKey)) {
		numbers.push(...['d', 'p', 'q', 'dp', 'dq', 'qi'].map((name): [string, Buffer] => [name, Buffer.from(jwk[name] ?? '', 'base64url')]));
	}
	// Leading zeros are omitted, so a number can be shorter.
	expect(numbers.filter(([, { length }]) => length >= 32)).toHaveLength(7);
	for (const [name, number] of numbers) {
		for (const encoding of ['base64', 'base64url', 'hex', 'latin1'] as const) plant(`${name} in ${encoding}`, number.toString(encoding));
	}
	expect([dump, ...files, responses].filter((text) => /"(d|p|q|dp|dq|qi)":/.test(text))).toEqual([]);
	const places = {
		log: product.stdout,
		'standard error': product.stderr,
		responses,
		'data directory': files.join('\n'),
		'database dump': dump,
	};
	const found = [...canaries].flatMap(([name, value]) =>
		Object.entries(places)
			.filter(([, text]) => text.includes(value))
			.map(([place]) => `${name}: ${place}`),
	);
	expect(found).toEqual([]);
	expect(canaries.size).toBeGreaterThan(25);
	expect(product.log.some((line) => line['level'] === 'debug')).toBe(true);
	expect(responses.length).toBeGreaterThan(20_000);
}, 60_000);

/** Private keys, decrypted with the encryption key. */
async function openedSigningKeys(dataDir: string, encryptionKey: Buffer): Promise<Record<string, string>[]> {
	const log = createRecordingLog();
	const records = openSqliteRecords({ dataDir }, { clock: systemClock, log });
	try {
		const opened = await createEncryptedSigningKeys(records.signingKeys, () => createEncryption([encryptionKey]), log).list();
		expect(opened).toHaveLength(1);
		return opened.map(({ privateJwk }) => JSON.parse(privateJwk) as Record<string, string>);
	} finally {
		await records.close();
	}
}

/** Dumps every row of every table, with blobs as their bytes. */
function dumpDatabases(directory: string): string {
	const names = readdirSync(directory).filter((name) => name.endsWith('.db'));
	return names.flatMap((name) => dumpDatabase(join(directory, name))).join('\n');
}

function dumpDatabase(path: string): string[] {
	const database = new DatabaseSync(path, { readOnly: true });
	try {
		const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
		return tables.flatMap(({ name }) => [String(name), ...allOf(database, String(name))].map(textOf));
	} finally {
		database.close();
	}
}

/** Reads big integers, because values may exceed the range of a number. */
function allOf(database: DatabaseSync, table: string): unknown[] {
	const statement = database.prepare(`SELECT * FROM "${table}"`);
	statement.setReadBigInts(true);
	return statement.all();
}

function textOf(row: unknown): string {
	if (typeof row === 'string') return row;
	return Object.values(row as object)
		.map((value) => (value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : String(value)))
		.join('\t');
}

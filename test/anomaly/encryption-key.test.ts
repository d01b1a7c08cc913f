/** Real processes: signing keys are encrypted at rest in PostgreSQL, and the encryption key is replaced under load. */
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { createEncryption, encryptionKeyIdOf } from '../../src/stores/encryption.ts';
import { type PostgresServer, query, startPostgres } from '../support/postgres-server.ts';
import { temporaryDirectory } from '../support/processes.ts';
import { eventually, type Product, startProduct } from '../support/product.ts';

/** Generous limit, because this test measures no duration and a busy machine is slow. */
const patienceMs = 20_000;

let postgres: PostgresServer;

beforeAll(async () => {
	postgres = await startPostgres('fsync=off');
}, 60_000);
afterAll(() => postgres.stop());

const [one, two] = [randomBytes(32), randomBytes(32)];

test('two identity processes agree on keys that the database holds only encrypted, and lose nothing while the encryption key is replaced', async () => {
	const keyFile = join(temporaryDirectory(), 'encryption.key');
	const seal = (...keys: Buffer[]): void => {
		writeFileSync(`${keyFile}.new`, keys.map((key) => `${key.toString('base64')}\n`).join(''), { mode: 0o600 });
		renameSync(`${keyFile}.new`, keyFile);
	};
	seal(one);
	const start = async (): Promise<Product> => {
		const identity = { public_url: 'https://identity.example', encryption_key_file: keyFile };
		const product = await startProduct({ stores: { records: postgres.url }, identity });
		onTestFinished(async () => void (await product.stop()));
		return product;
	};
	const fleet = await Promise.all([start(), start()]);
	const [left, right] = fleet;
	const kids = await Promise.all(fleet.map(publishedKids));
	expect(kids).toEqual([[expect.any(String)], kids[0]]);
	const [kid = ''] = kids[0] ?? [];

	const before = await privateJwks();
	expect(before.map(encryptionKeyIdOf)).toEqual([createEncryption([one]).keyId]);
	const jwk = JSON.parse(createEncryption([one]).decrypt(before[0] ?? '', `signing_keys/${kid}`)) as Record<string, string>;
	const [dump, files] = [await dumpDatabase(), await databaseFiles()];
	const secrets = ['d', 'p', 'q', 'dp', 'dq', 'qi'].map((member) => jwk[member] ?? '');
	expect(Math.min(...secrets.map(({ length }) => length))).toBeGreaterThan(100);
	for (const place of [dump, files]) {
		expect(place.includes(kid)).toBe(true);
		expect(secrets.filter((text) => place.includes(text))).toEqual([]);
	}

	const accessTokens: string[] = [];
	const statuses: number[] = [];
	let isOver = false;
	onTestFinished(() => void (isOver = true));
	const load = Promise.all(
		[
			[left, right],
			[right, left],
		].map(async ([issuer, verifier]) => {
			while (!isOver && issuer !== undefined && verifier !== undefined) {
				const accessToken = await issuer.accessToken();
				accessTokens.push(accessToken);
				statuses.push(await statusAt(verifier, accessToken));
			}
		}),
	);
	const underLoad = async (): Promise<void> => {
		const done = statuses.length;
		await eventually('load', () => (statuses.length > done + 4 ? true : undefined), patienceMs);
	};
	for (const [count, keys] of [[one, two], [two, one], [two]].entries()) {
		seal(...keys);
		for (const { log } of fleet) {
			await eventually('the key is changed', () => log.filter(({ msg }) => msg === 'configuration changed')[count], patienceMs);
		}
		const { keyId } = createEncryption([keys[0] ?? one]);
		await eventually(
			'keys are sealed',
			async () => ((await privateJwks()).map(encryptionKeyIdOf).every((id) => id === keyId) ? true : undefined),
			patienceMs,
		);
		await underLoad();
	}
	isOver = true;
	await load;
	expect(new Set(statuses)).toEqual(new Set([200]));
	expect(accessTokens.length).toBeGreaterThan(14);
	// Instances that start now have only the new encryption key.
	const late = await start();
	expect(await publishedKids(late)).toEqual([kid]);
	expect(new Set(await Promise.all(accessTokens.slice(0, 20).map((accessToken) => statusAt(late, accessToken))))).toEqual(new Set([200]));
	const lines = [...fleet, late].flatMap(({ log }) => log);
	const complaints = lines.filter(({ level, msg }) => level !== 'info' && String(msg).includes('signing keys'));
	expect(complaints).toEqual([]);
	for (const key of [one, two]) expect(JSON.stringify(lines)).not.toContain(key.toString('base64'));
}, 60_000);

async function publishedKids({ identityUrl }: Product): Promise<string[]> {
	const { keys } = (await (await fetch(`${identityUrl}/.well-known/jwks.json`)).json()) as { keys: { kid: string }[] };
	return keys.map(({ kid }) => kid);
}

async function statusAt({ gatewayUrl }: Product, accessToken: string): Promise<number> {
	const response = await fetch(`${gatewayUrl}/v1/models`, { headers: { authorization: `Bearer ${accessToken}` } });
	await response.arrayBuffer();
	return response.status;
}

async function privateJwks(): Promise<string[]> {
	return (await query(postgres.url, 'SELECT private_jwk FROM tollgate.signing_keys')).map((row) => String(row['private_jwk']));
}

/** Dumps every row of every table, as text. */
async function dumpDatabase(): Promise<string> {
	const tables = await query(postgres.url, "SELECT tablename FROM pg_tables WHERE schemaname = 'tollgate'");
	const rows = await Promise.all(
		tables.map(({ tablename }) => query(postgres.url, `SELECT t::text AS line FROM tollgate."${String(tablename)}" AS t`)),
	);
	return rows
		.flat()
		.map(({ line }) => String(line))
		.join('\n');
}

/** Contents of the server's disk: tables, and the write-ahead log. */
async function databaseFiles(): Promise<string> {
	await query(postgres.url, 'CHECKPOINT');
	const [shown] = await query(postgres.url, 'SHOW data_directory');
	const directory = String(shown?.['data_directory']);
	return readdirSync(directory, { recursive: true, withFileTypes: true })
		.filter((entry) => entry.isFile())
		.map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
		.join('\n');
}

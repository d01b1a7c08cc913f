import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { createLocalJWKSet, jwtVerify } from 'jose';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type IdentitySubject, startIdentity } from '../../test/support/identity.ts';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { createMemoryRecords } from '../../test/support/memory-records.ts';
import { createRecordingLog, type RecordingLog } from '../../test/support/recording-log.ts';
import { parseConfig } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import type { RecordStore } from '../stores/contracts/records.ts';
import { encryptionKeyIdOf } from '../stores/encryption.ts';
import { encryptionKeyFileName } from '../stores/encryption-key-file.ts';
import { openSqliteRecords } from '../stores/sqlite/sqlite-records.ts';
import { type OpenedSigningKeys, openSigningKeys } from './open-signing-keys.ts';

const [one, two] = [randomBytes(32).toString('base64'), randomBytes(32).toString('hex')];

function temporaryDirectory(): string {
	const path = mkdtempSync(join(tmpdir(), 'tollgate-sealing-'));
	onTestFinished(() => rmSync(path, { recursive: true }));
	return path;
}

function configure(dataDir: string, encryptionKey: string | null = null, records = 'sqlite'): Config {
	const settings = { data_dir: dataDir, stores: { records }, identity: { encryption_key: encryptionKey } };
	return parseConfig(JSON.stringify(settings), { file: null, env: {} }).config;
}

interface Subject extends OpenedSigningKeys {
	readonly identity: IdentitySubject;
	readonly records: RecordStore;
	readonly log: RecordingLog;
}

async function start(config: Config, clock: ManualClock, stored?: RecordStore): Promise<Subject> {
	const log = createRecordingLog();
	const records = stored ?? openSqliteRecords({ dataDir: config.data_dir }, { clock, log });
	const cleanup = openSigningKeys(config, records.signingKeys, log);
	const identity = await startIdentity(
		{ keyRotationSeconds: 7200, keyOverlapSeconds: 600, accessTokenSeconds: 40_000 },
		{ clock, records: { ...records, signingKeys: cleanup.signingKeys } },
	);
	onTestFinished(async () => {
		await identity.stop();
		await records.close();
	});
	return { ...cleanup, identity, records, log };
}

async function verify(accessTokens: readonly string[], { identity }: Subject, clock: ManualClock): Promise<void> {
	const keySet = createLocalJWKSet({ keys: [...identity.identity.publishedKeySet().keys] });
	for (const accessToken of accessTokens) await jwtVerify(accessToken, keySet, { currentDate: new Date(clock.nowMs()) });
}

async function encryptedWith({ records }: Subject): Promise<(string | undefined)[]> {
	return (await records.signingKeys.list()).map(({ privateJwk }) => encryptionKeyIdOf(privateJwk));
}

function kidsOf({ identity }: Subject): string[] {
	return identity.identity.publishedKeySet().keys.map(({ kid }) => kid);
}

/** Advances the clock until changes of another process are visible. */
function countAfter(clock: ManualClock, subject: Subject): number {
	clock.advance(500);
	return kidsOf(subject).length;
}

/** Advances the clock until a failed step is retried. */
async function readyAfter(clock: ManualClock, { identity }: Subject): Promise<number> {
	clock.advance(1000);
	return (await fetch(`${identity.baseUrl}/readyz`)).status;
}

describe('the encryption key', () => {
	test('is generated in the data directory by default; keys of an earlier release are encrypted, and their tokens stay valid', async () => {
		const dataDir = temporaryDirectory();
		const clock = new ManualClock();
		const records = openSqliteRecords({ dataDir }, { clock, log: createRecordingLog() });
		const earlier = await startIdentity({}, { clock, records });
		const accessToken = await earlier.accessToken();
		await earlier.stop();
		expect((await records.signingKeys.list()).map(({ privateJwk }) => privateJwk.includes('"d":'))).toEqual([true]);
		await records.close();
		const now = await start(configure(dataDir), clock);
		expect((await now.records.signingKeys.list()).map(({ privateJwk }) => privateJwk.includes('"d":'))).toEqual([false]);
		await verify([accessToken, await now.identity.accessToken()], now, clock);
		expect(now.identity.identity.publishedKeySet().keys).toHaveLength(1);
	});

	test('of the data directory decrypts what it encrypted after another one is configured', async () => {
		const dataDir = temporaryDirectory();
		const clock = new ManualClock();
		const before = await start(configure(dataDir), clock);
		const accessToken = await before.identity.accessToken();
		const [ofFile] = await encryptedWith(before);
		const after = await start(configure(dataDir, one), clock);
		await verify([accessToken], after, clock);
		expect(await encryptedWith(after)).not.toEqual([ofFile]);
		rmSync(join(dataDir, encryptionKeyFileName));
		await verify([accessToken], await start(configure(dataDir, one), clock), clock);
		expect(existsSync(join(dataDir, encryptionKeyFileName))).toBe(false);
	});

	test.each([
		['another one', two],
		['a new one, made because the file was lost', null],
	])('that is missing: with %s identity is not ready, names the record, and generates no new keys', async (_name, wrong) => {
		const dataDir = temporaryDirectory();
		const clock = new ManualClock();
		const first = await start(configure(dataDir, one), clock);
		const accessToken = await first.identity.accessToken();
		const before = await first.records.signingKeys.list();
		const late = await start(configure(dataDir, wrong), clock);
		expect((await fetch(`${late.identity.baseUrl}/readyz`)).status).toBe(503);
		expect((await fetch(`${late.identity.baseUrl}/.well-known/jwks.json`)).status).toBe(503);
		await expect(late.identity.accessToken()).rejects.toThrow('records_unavailable');
		const complaints = late.identity.log.lines.filter(({ event }) => event === 'signing keys cannot be read yet');
		expect(complaints.map(({ fields }) => String(fields['cause']))).toEqual([
			expect.stringMatching(new RegExp(`the record ${before[0]?.kid} of signing_keys is encrypted with key .* which is not configured`)),
		]);
		expect(await late.records.signingKeys.list()).toEqual(before);
		// The right key in the configuration repairs it without a restart.
		late.prepareEncryption(configure(dataDir, `${two} ${one}`))();
		await expect.poll(() => readyAfter(clock, late)).toBe(200);
		await verify([accessToken], late, clock);
	});

	test('that is lost for good: deleted records are dropped, and new keys generated without a restart', async () => {
		const dataDir = temporaryDirectory();
		const clock = new ManualClock();
		const first = await start(configure(dataDir, one), clock);
		const accessToken = await first.identity.accessToken();
		await first.identity.stop();
		const late = await start(configure(dataDir, two), clock);
		const database = new DatabaseSync(join(dataDir, 'records.db'));
		database.exec('DELETE FROM signing_keys');
		database.close();
		await expect.poll(() => readyAfter(clock, late)).toBe(200);
		await verify([await late.identity.accessToken()], late, clock);
		await expect(verify([accessToken], late, clock)).rejects.toThrow('no applicable key');
	});

	test('rotates while tokens are issued and signing keys rotate: every request gets a token, and every token is verified', async () => {
		const dataDir = temporaryDirectory();
		const clock = new ManualClock();
		const fleet = [await start(configure(dataDir, one), clock), await start(configure(dataDir, one), clock)] as const;
		const accessTokens: string[] = [];
		let isOver = false;
		onTestFinished(() => void (isOver = true));
		const load = Promise.all(
			fleet.map(async ({ identity }) => {
				while (!isOver) {
					accessTokens.push(await identity.accessToken());
					await sleep(1);
				}
			}),
		);
		const [first] = await encryptedWith(fleet[0]);
		const seen = new Set<string | undefined>();
		// Every process knows the new key before any encrypts with it, and the old key until no data is encrypted with it.
		for (const keys of [`${one} ${two}`, `${two} ${one}`, two]) {
			for (const { prepareEncryption } of fleet) {
				const issued = accessTokens.length;
				prepareEncryption(configure(dataDir, keys))();
				await expect.poll(() => accessTokens.length).toBeGreaterThan(issued + 3);
			}
			// Covers a new signing key as well: one process encrypts it, the other decrypts it.
			const known = kidsOf(fleet[0]).length;
			clock.advance(7_200_000);
			for (const subject of fleet) await expect.poll(() => countAfter(clock, subject)).toBe(known + 1);
			expect(kidsOf(fleet[1])).toEqual(kidsOf(fleet[0]));
			for (const keyId of await encryptedWith(fleet[1])) seen.add(keyId);
			const issued = [...accessTokens];
			for (const subject of fleet) await verify(issued, subject, clock);
		}
		isOver = true;
		await load;
		for (const subject of fleet) await verify(accessTokens, subject, clock);
		const last = new Set(await encryptedWith(fleet[0]));
		expect([seen.size, last.size, last.has(first)]).toEqual([2, 1, false]);
		const bad = fleet.flatMap(({ log, identity }) => [...log.lines, ...identity.log.lines]).filter(({ level }) => /warn|error/.test(level));
		expect(bad).toEqual([]);
	});

	test('that is not configured on PostgreSQL: keys are stored unencrypted, with a warning, because processes could not agree on one', async () => {
		const dataDir = temporaryDirectory();
		const clock = new ManualClock();
		const stored = createMemoryRecords();
		const config = configure(dataDir, null, 'postgres://127.0.0.1/x');
		const fleet = [await start(config, clock, stored), await start(config, clock, stored)];
		for (const subject of fleet) {
			await verify([await subject.identity.accessToken()], fleet[0] ?? subject, clock);
			expect(subject.log.lines).toMatchObject([{ level: 'warn', event: 'signing keys are stored unencrypted in PostgreSQL' }]);
		}
		expect(await encryptedWith(fleet[0] as Subject)).toEqual([undefined]);
		expect(existsSync(join(dataDir, encryptionKeyFileName))).toBe(false);
		const configured = await start(configure(dataDir, one, 'postgres://127.0.0.1/x'), clock, stored);
		expect(configured.log.lines).toMatchObject([{ event: 'signing keys encrypted' }]);
		await verify([await configured.identity.accessToken()], fleet[0] as Subject, clock);
	});

	test('in a file without a key ends the start, and rejects a change of the configuration', async () => {
		const dataDir = temporaryDirectory();
		writeFileSync(join(dataDir, encryptionKeyFileName), 'none');
		const { signingKeys } = createMemoryRecords();
		const log = createRecordingLog();
		expect(() => openSigningKeys(configure(dataDir), signingKeys, log)).toThrow('has no encryption key');
		const { prepareEncryption } = openSigningKeys(configure(temporaryDirectory()), signingKeys, log);
		expect(() => prepareEncryption(configure(dataDir))).toThrow('has no encryption key');
	});
});

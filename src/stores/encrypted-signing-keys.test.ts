import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { createMemoryRecords } from '../../test/support/memory-records.ts';
import { createRecordingLog, type RecordingLog } from '../../test/support/recording-log.ts';
import { UpstreamError } from '../core/upstream-error.ts';
import type { SigningKeyRecord, SigningKeyStore } from './contracts/records.ts';
import { createEncryptedSigningKeys } from './encrypted-signing-keys.ts';
import { createEncryption, type Encryption } from './encryption.ts';
import { openSqliteRecords } from './sqlite/sqlite-records.ts';

const [oldKey, newKey] = [randomBytes(32), randomBytes(32)];
const old = createEncryption([oldKey]);

function signingKey(kid: string, differences: Partial<SigningKeyRecord> = {}): SigningKeyRecord {
	return { kid, privateJwk: `{"d":"exponent of ${kid}"}`, createdAtMs: 1, activeFromMs: 2, retiredAtMs: null, ...differences };
}

interface Subject {
	readonly keys: SigningKeyStore;
	readonly log: RecordingLog;
	use(encryption: Encryption | undefined): void;
}

function encrypt(stored: SigningKeyStore, encryption: Encryption | undefined): Subject {
	const log = createRecordingLog();
	let now = encryption;
	const use = (next: Encryption | undefined): void => void (now = next);
	return { keys: createEncryptedSigningKeys(stored, () => now, log), log, use };
}

function openSqlite(): { dataDir: string; stored: SigningKeyStore } {
	const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-sealed-'));
	const records = openSqliteRecords({ dataDir }, { clock: new ManualClock(), log: createRecordingLog() });
	onTestFinished(async () => {
		await records.close();
		rmSync(dataDir, { recursive: true });
	});
	return { dataDir, stored: records.signingKeys };
}

const inMemory = (): SigningKeyStore => createMemoryRecords().signingKeys;

async function upstreamErrorOf(work: Promise<unknown>): Promise<UpstreamError> {
	const failure = await work.then(
		() => undefined,
		(cause: unknown) => cause,
	);
	if (!(failure instanceof UpstreamError)) throw new Error(`no fault: ${String(failure)}`);
	return failure;
}

describe('encrypted signing keys', () => {
	test('are stored encrypted and listed unencrypted; nothing else of the row changes', async () => {
		const stored = inMemory();
		const { keys } = encrypt(stored, old);
		expect(await keys.rotate(signingKey('k1'), null, [])).toBe(true);
		expect(await keys.rotate(signingKey('k2'), null, [])).toBe(false);
		expect(await keys.rotate(signingKey('k2'), 'k1', [{ kid: 'k1', retiredAtMs: 9 }])).toBe(true);
		expect(await keys.list()).toEqual([signingKey('k1', { retiredAtMs: 9 }), signingKey('k2')]);
		const rows = await stored.list();
		expect(JSON.stringify(rows)).not.toContain('exponent');
		expect(rows.map(({ privateJwk, ...rest }) => rest)).toEqual(
			[signingKey('k1', { retiredAtMs: 9 }), signingKey('k2')].map(({ privateJwk, ...rest }) => rest),
		);
		await keys.prune(10);
		expect(await keys.list()).toEqual([signingKey('k2')]);
	});

	test('that are unencrypted are read, encrypted in place, and left in no file of the embedded store', async () => {
		const { dataDir, stored } = openSqlite();
		await stored.rotate(signingKey('k1'), null, []);
		await stored.rotate(signingKey('k2'), 'k1', [{ kid: 'k1', retiredAtMs: 9 }]);
		expect(bytesOf(dataDir)).toContain('exponent of k1');
		const { keys, log } = encrypt(stored, old);
		const expected = [signingKey('k1', { retiredAtMs: 9 }), signingKey('k2')];
		expect(await keys.list()).toEqual(expected);
		expect((await stored.list()).map(({ privateJwk }) => privateJwk.split(':')[1])).toEqual([old.keyId, old.keyId]);
		expect(bytesOf(dataDir)).not.toContain('exponent');
		expect(await keys.list()).toEqual(expected);
		expect(log.lines).toEqual([
			{ level: 'info', event: 'signing keys encrypted', fields: { kids: ['k1', 'k2'], encryptedWith: old.keyId } },
		]);
	});

	test('under an older key are encrypted again, one by one process or by two at once', async () => {
		const { stored } = openSqlite();
		const { keys, use } = encrypt(stored, old);
		await keys.rotate(signingKey('k1'), null, []);
		const both = createEncryption([newKey, oldKey]);
		use(both);
		const second = encrypt(stored, both);
		expect(await Promise.all([keys.list(), second.keys.list()])).toEqual([[signingKey('k1')], [signingKey('k1')]]);
		use(createEncryption([newKey]));
		expect(await keys.list()).toEqual([signingKey('k1')]);
		expect((await upstreamErrorOf(encrypt(stored, old).keys.list())).message).toContain(
			'the record k1 of signing_keys is encrypted with key',
		);
	});

	test('that were moved to another row, changed or truncated are rejected, with the row and what to do', async () => {
		const { dataDir, stored } = openSqlite();
		const { keys } = encrypt(stored, old);
		await keys.rotate(signingKey('k1'), null, []);
		await keys.rotate(signingKey('k2'), 'k1', []);
		const database = new DatabaseSync(join(dataDir, 'records.db'));
		onTestFinished(() => database.close());
		const stolen = database.prepare("SELECT private_jwk FROM signing_keys WHERE kid = 'k1'").get()?.['private_jwk'];
		const original = String(database.prepare("SELECT private_jwk FROM signing_keys WHERE kid = 'k2'").get()?.['private_jwk']);
		for (const planted of [String(stolen), original.slice(0, -4), original.replace(/.$/, '-'), '', 'x']) {
			database.prepare("UPDATE signing_keys SET private_jwk = ? WHERE kid = 'k2'").run(planted);
			const upstreamError = await upstreamErrorOf(keys.list());
			expect(upstreamError.code).toBe('records_unavailable');
			expect(upstreamError.message).toMatch(/^the record k2 of signing_keys (is|was) .*: restore the encryption key or the record/);
			expect(upstreamError.message).not.toContain('exponent');
		}
		database.prepare("UPDATE signing_keys SET private_jwk = ? WHERE kid = 'k2'").run(original);
		expect(await keys.list()).toEqual([signingKey('k1'), signingKey('k2')]);
	});

	test('without an encryption key: new ones stay unencrypted, encrypted ones are rejected', async () => {
		const stored = inMemory();
		const { keys, use, log } = encrypt(stored, undefined);
		await keys.rotate(signingKey('k1'), null, []);
		expect(await stored.list()).toEqual([signingKey('k1')]);
		expect(await keys.list()).toEqual([signingKey('k1')]);
		expect(log.lines).toEqual([]);
		use(old);
		await keys.list();
		use(undefined);
		expect((await upstreamErrorOf(keys.list())).message).toContain('is encrypted, and no `identity.encryption_key` is configured');
	});

	test('that cannot be written stay usable; the failure is logged once and retried', async () => {
		const stored = inMemory();
		await stored.rotate(signingKey('k1'), null, []);
		let isReadOnly = true;
		const failing: SigningKeyStore = {
			...stored,
			replacePrivateJwks: (changes) =>
				isReadOnly ? Promise.reject(new UpstreamError('records_unavailable')) : stored.replacePrivateJwks(changes),
		};
		const { keys, log } = encrypt(failing, old);
		for (let tries = 0; tries < 3; tries++) expect(await keys.list()).toEqual([signingKey('k1')]);
		isReadOnly = false;
		expect(await keys.list()).toEqual([signingKey('k1')]);
		expect(log.lines.map(({ event }) => event)).toEqual(['signing keys could not be encrypted', 'signing keys encrypted']);
	});
});

/** Bytes of every file of the store, including the write-ahead log. */
function bytesOf(directory: string): string {
	return readdirSync(directory)
		.map((name) => readFileSync(join(directory, name), 'latin1'))
		.join('\n');
}

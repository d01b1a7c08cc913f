import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createLocalJWKSet, decodeProtectedHeader, jwtVerify } from 'jose';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type IdentitySubject, issuer, startIdentity } from '../../../test/support/identity.ts';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import { createRecordingLog } from '../../../test/support/recording-log.ts';
import { UpstreamError } from '../../core/upstream-error.ts';
import type { RecordStore } from '../../stores/contracts/records.ts';
import { openSqliteRecords } from '../../stores/sqlite/sqlite-records.ts';

const minuteMs = 60_000;
const rotationMs = 180 * minuteMs;
const overlapMs = 10 * minuteMs;
const lifetimeMs = 20 * minuteMs;
const times = { keyRotationSeconds: rotationMs / 1000, keyOverlapSeconds: overlapMs / 1000, accessTokenSeconds: lifetimeMs / 1000 };

function temporaryDirectory(): string {
	const path = mkdtempSync(join(tmpdir(), 'tollgate-keys-'));
	onTestFinished(() => rmSync(path, { recursive: true }));
	return path;
}

function openRecords(dataDir: string, clock: ManualClock): RecordStore {
	const records = openSqliteRecords({ dataDir }, { clock, log: createRecordingLog() });
	onTestFinished(() => records.close());
	return records;
}

async function start(clock: ManualClock, records: RecordStore, differences: Partial<typeof times> = {}): Promise<IdentitySubject> {
	const subject = await startIdentity({ ...times, ...differences }, { clock, records });
	onTestFinished(() => subject.stop());
	return subject;
}

function publishedKids({ identity }: IdentitySubject): string[] {
	return identity.publishedKeySet().keys.map(({ kid }) => kid);
}

async function isVerified(accessToken: string, subject: IdentitySubject, clock: ManualClock): Promise<boolean> {
	const keySet = createLocalJWKSet({ keys: [...subject.identity.publishedKeySet().keys] });
	return jwtVerify(accessToken, keySet, { issuer, currentDate: new Date(clock.nowMs()) }).then(
		() => true,
		() => false,
	);
}

describe('signing keys', () => {
	test('survive a restart', async () => {
		const dataDir = temporaryDirectory();
		const clock = new ManualClock();
		const records = openRecords(dataDir, clock);
		const first = await start(clock, records);
		const accessToken = await first.accessToken();
		await first.stop();
		await records.close();
		const second = await start(clock, openRecords(dataDir, clock));
		expect(publishedKids(second)).toEqual(publishedKids(first));
		expect(await isVerified(accessToken, second, clock)).toBe(true);
	});

	test('rotate: the new key is published before it signs, the old one until its last token has expired', async () => {
		const clock = new ManualClock();
		const subject = await start(clock, openRecords(temporaryDirectory(), clock));
		const [oldKid = ''] = publishedKids(subject);
		clock.advance(rotationMs - overlapMs - minuteMs);
		expect(publishedKids(subject)).toEqual([oldKid]);
		clock.advance(minuteMs);
		await expect.poll(() => publishedKids(subject)).toHaveLength(2);
		const newKid = publishedKids(subject)[1];
		expect(newKid).not.toBe(oldKid);
		clock.advance(overlapMs - 1);
		const lastOfOld = await subject.accessToken();
		expect(decodeProtectedHeader(lastOfOld).kid).toBe(oldKid);
		clock.advance(1);
		const firstOfNew = await subject.accessToken();
		expect(decodeProtectedHeader(firstOfNew).kid).toBe(newKid);
		clock.advance(lifetimeMs - 2000);
		expect(await isVerified(lastOfOld, subject, clock)).toBe(true);
		clock.advance(overlapMs + 1999);
		expect(publishedKids(subject)).toEqual([oldKid, newKid]);
		clock.advance(1);
		expect(publishedKids(subject)).toEqual([newKid]);
		clock.advance(minuteMs);
		await expect.poll(async () => (await subject.records.signingKeys.list()).map(({ kid }) => kid)).toEqual([newKid]);
	});

	test('no token outlives its key, even if lifetimes grow in the middle of a rotation', async () => {
		const clock = new ManualClock();
		const records = openRecords(temporaryDirectory(), clock);
		const first = await start(clock, records);
		clock.advance(rotationMs - overlapMs);
		await expect.poll(() => publishedKids(first)).toHaveLength(2);
		const second = await start(clock, records, { accessTokenSeconds: 86_400 });
		const accessToken = await second.accessToken();
		const [old] = await records.signingKeys.list();
		const { payload } = await jwtVerify(accessToken, createLocalJWKSet({ keys: [...second.identity.publishedKeySet().keys] }), {
			currentDate: new Date(clock.nowMs()),
		});
		expect((payload.exp ?? 0) * 1000).toBe(old?.retiredAtMs);
	});

	test('of two processes on one store are the same, even if both rotate at once', async () => {
		const clock = new ManualClock();
		const dataDir = temporaryDirectory();
		const [one, other] = await Promise.all([start(clock, openRecords(dataDir, clock)), start(clock, openRecords(dataDir, clock))]);
		expect(publishedKids(one)).toHaveLength(1);
		expect(publishedKids(other)).toEqual(publishedKids(one));
		expect(await isVerified(await one.accessToken(), other, clock)).toBe(true);
		const seen = new Set(publishedKids(one));
		for (const passMs of [rotationMs - overlapMs, rotationMs, rotationMs]) {
			clock.advance(passMs);
			await expect.poll(() => seen.has(publishedKids(one).at(-1) ?? '')).toBe(false);
			clock.advance(500);
			await expect.poll(() => publishedKids(other)).toEqual(publishedKids(one));
			seen.add(publishedKids(one).at(-1) ?? '');
			expect(await isVerified(await other.accessToken(), one, clock)).toBe(true);
			expect(await isVerified(await one.accessToken(), other, clock)).toBe(true);
		}
		expect(seen.size).toBe(4);
		expect([one, other].flatMap(({ log }) => log.lines).filter(({ event }) => event === 'signing key added')).toHaveLength(4);
	});

	test('that cannot be maintained are logged, and the current ones continue to sign', async () => {
		const clock = new ManualClock();
		const records = openRecords(temporaryDirectory(), clock);
		const subject = await start(clock, records);
		const { list } = records.signingKeys;
		records.signingKeys.list = () => Promise.reject(new Error('disk gone'));
		clock.advance(minuteMs);
		await expect.poll(() => subject.log.lines.map(({ event }) => event)).toContain('signing keys could not be maintained');
		expect(await isVerified(await subject.accessToken(), subject, clock)).toBe(true);
		records.signingKeys.list = list;
		clock.advance(rotationMs - overlapMs);
		await expect.poll(() => publishedKids(subject)).toHaveLength(2);
	});

	test('that cannot be read at the start are read again each second, and until then there is neither a token nor an empty key set', async () => {
		const clock = new ManualClock();
		const records = openRecords(temporaryDirectory(), clock);
		const { list } = records.signingKeys;
		records.signingKeys.list = () => Promise.reject(new UpstreamError('records_unavailable'));
		const subject = await start(clock, records);
		expect(() => subject.identity.publishedKeySet()).toThrow(expect.objectContaining({ code: 'records_unavailable' }));
		expect((await fetch(`${subject.baseUrl}/.well-known/jwks.json`)).status).toBe(503);
		await expect(subject.accessToken()).rejects.toThrow('records_unavailable');
		for (let second = 0; second < 3; second++) {
			clock.advance(1000);
			await new Promise((resolve) => setImmediate(resolve));
		}
		records.signingKeys.list = list;
		clock.advance(1000);
		await expect.poll(() => subject.log.lines.map(({ event }) => event)).toContain('signing keys loaded');
		expect(await isVerified(await subject.accessToken(), subject, clock)).toBe(true);
		expect(subject.log.lines.filter(({ level }) => level === 'warn')).toHaveLength(1);
	});

	test('that cannot be read for one reason, then for another: each is logged once', async () => {
		const clock = new ManualClock();
		const records = openRecords(temporaryDirectory(), clock);
		let failure = 'the server is away';
		records.signingKeys.list = () => Promise.reject(new UpstreamError('records_unavailable', { message: failure }));
		const subject = await start(clock, records);
		for (const next of ['the server is away', 'the row k1 cannot be opened', 'the row k1 cannot be opened']) {
			failure = next;
			clock.advance(1000);
			await new Promise((resolve) => setImmediate(resolve));
		}
		const warnings = subject.log.lines.filter(({ event }) => event === 'signing keys cannot be read yet');
		expect(warnings.map(({ fields }) => String(fields['cause']))).toEqual([
			'UpstreamError: the server is away',
			'UpstreamError: the row k1 cannot be opened',
		]);
	});

	test('of real processes that start on one empty store at once are the same', async () => {
		const dataDir = temporaryDirectory();
		const identity = JSON.stringify(join(import.meta.dirname, 'identity.ts'));
		const store = JSON.stringify(join(import.meta.dirname, '../../stores/sqlite/sqlite-records.ts'));
		const script = `
			import { createIdentity } from ${identity};
			import { openSqliteRecords } from ${store};
			const clock = { nowMs: Date.now, monotonicMs: () => performance.now(), after: () => ({ cancel() {} }) };
			const log = { debug() {}, info() {}, warn() {}, error() {} };
			const records = openSqliteRecords({ dataDir: ${JSON.stringify(dataDir)} }, { clock, log });
			const settings = { listen: { host: '127.0.0.1', port: 0 }, issuer: 'https://x.example', audience: null, scopeBase: 'tollgate',
				trustedProxies: [], configuredClients: [], maxAttemptsPerMinute: 100, graceMs: 0, ...${JSON.stringify(times)} };
			const identity = createIdentity(settings, { records, clock, log, newId: String });
			await identity.start();
			console.log(JSON.stringify(identity.publishedKeySet()));
			await identity.stop();
			await records.close();`;
		const outputs = await Promise.all(
			[1, 2, 3].map(async () => (await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script])).stdout),
		);
		expect(new Set(outputs).size).toBe(1);
		expect(JSON.parse(outputs[0] ?? '')).toMatchObject({ keys: [{ alg: 'RS256' }] });
	});
});

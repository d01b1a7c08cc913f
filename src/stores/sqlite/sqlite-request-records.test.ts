import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import { recordedRequest } from '../../../test/support/recorded-request.ts';
import { createRecordingLog } from '../../../test/support/recording-log.ts';
import { requestTrace } from '../../../test/support/request-trace.ts';
import { silentLog } from '../../core/log.ts';
import { systemClock } from '../../io/system-clock.ts';
import { requestRecordsContract } from '../contracts/request-records.contract.ts';
import type { RequestPage } from '../contracts/request-records.ts';
import { openSqliteRequestRecordReader, openSqliteRequestRecords } from './sqlite-request-records.ts';

requestRecordsContract('SQLite', async () => {
	const dataDir = mkdtempSync(join(tmpdir(), 'request-records-'));
	const records = openSqliteRequestRecords({ dataDir, retainDays: 36_500, maxBytes: 2 ** 31 }, { clock: systemClock, log: silentLog });
	const reader = openSqliteRequestRecordReader({ dataDir });
	return {
		records,
		reader,
		async dispose() {
			await records.end();
			await reader.end();
			rmSync(dataDir, { recursive: true });
		},
	};
});

const startMs = Date.UTC(2026, 10, 21);
const dayMs = 86_400_000;

function directory(): string {
	const path = mkdtempSync(join(tmpdir(), 'request-records-'));
	onTestFinished(() => rmSync(path, { recursive: true }));
	return path;
}

describe('retention', () => {
	test('deletes records older than the days, and keeps the others', async () => {
		const clock = new ManualClock(startMs);
		const records = openSqliteRequestRecords({ dataDir: directory(), retainDays: 30, maxBytes: 2 ** 31 }, { clock, log: silentLog });
		for (const [index, days] of [31, 30.1, 29.9, 0].entries()) {
			records.add(recordedRequest(Math.floor(startMs - days * dayMs), index));
			await records.find('req_');
		}
		clock.advance(60_000);
		await expect.poll(async () => (await records.list({ limit: 10 })).requests.map(({ id }) => Number(id.slice(-1)))).toEqual([3, 2]);
		expect((await records.list({ limit: 10, team: 'red' })).requests).toHaveLength(2);
		await records.end();
	});

	test('deletes the oldest records above the size', async () => {
		const clock = new ManualClock(startMs);
		const dataDir = directory();
		const records = openSqliteRequestRecords({ dataDir, retainDays: 30, maxBytes: 400_000 }, { clock, log: silentLog });
		for (const request of requestTrace(30_000, startMs)) records.add(request);
		const newest = (await records.list({ limit: 1 })).requests;
		const oldest = { limit: 1000, toMs: startMs };
		expect((await records.list(oldest)).requests.length).toBeGreaterThan(100);
		clock.advance(60_000);
		// Merged blocks can keep single early requests.
		await expect.poll(async () => (await records.list(oldest)).requests.length, { timeout: 10_000 }).toBeLessThan(50);
		expect((await records.list({ limit: 1 })).requests).toEqual(newest);
		await records.end();
		const database = new DatabaseSync(join(dataDir, 'requests.db'));
		onTestFinished(() => database.close());
		const keys = database.prepare('SELECT count(*) AS left FROM block_keys WHERE block NOT IN (SELECT id FROM blocks)').get();
		expect(keys).toEqual({ left: 0 });
	});
});

test('a killed process loses only what it had not written for half a second', async () => {
	const dataDir = directory();
	const url = (path: string): string => JSON.stringify(new URL(path, import.meta.url).href);
	const script = `
		const { openSqliteRequestRecords } = await import(${url('./sqlite-request-records.ts')});
		const { recordedRequest } = await import(${url('../../../test/support/recorded-request.ts')});
		const { systemClock } = await import(${url('../../io/system-clock.ts')});
		const { silentLog } = await import(${url('../../core/log.ts')});
		const records = openSqliteRequestRecords({ dataDir: ${JSON.stringify(dataDir)}, retainDays: 36500, maxBytes: 2 ** 31 },
			{ clock: systemClock, log: silentLog });
		for (let index = 0; index < 2500; index++) records.add(recordedRequest(${startMs} + index, index));
		setInterval(() => { if (records.health().queuedRecords === 0) console.log('written'); }, 20);`;
	const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
	await new Promise<void>((resolve) => child.stdout.once('data', () => resolve()));
	child.kill('SIGKILL');
	await new Promise<void>((resolve) => child.once('exit', () => resolve()));
	const records = openSqliteRequestRecords({ dataDir, retainDays: 36_500, maxBytes: 2 ** 31 }, { clock: systemClock, log: silentLog });
	records.add(recordedRequest(startMs + 9999, 9999));
	const found: string[] = [];
	for (let cursor: string | null | undefined; cursor !== null; ) {
		const page: RequestPage = await records.list({ limit: 1000, cursor });
		found.push(...page.requests.map(({ id }) => id));
		cursor = page.nextCursor;
	}
	expect(new Set(found).size).toBe(2501);
	await records.end();
});

test('records wait for a file that cannot be opened, and no start waits for it', async () => {
	const dataDir = directory();
	const clock = new ManualClock(startMs);
	const log = createRecordingLog();
	mkdirSync(join(dataDir, 'requests.db'));
	const records = openSqliteRequestRecords({ dataDir, retainDays: 30, maxBytes: 2 ** 31 }, { clock, log });
	const request = recordedRequest(startMs, 1);
	records.add(request);
	await expect(records.find(request.id)).rejects.toMatchObject({ code: 'records_unavailable' });
	expect(records.health()).toEqual({ isWritable: false, queuedRecords: 1, droppedRecords: 0 });
	rmSync(join(dataDir, 'requests.db'), { recursive: true });
	expect(await records.find(request.id)).toEqual(request);
	expect(records.health().isWritable).toBe(true);
	await records.end();
});

test('small blocks are merged, without a loss', async () => {
	const dataDir = directory();
	const records = openSqliteRequestRecords({ dataDir, retainDays: 36_500, maxBytes: 2 ** 31 }, { clock: systemClock, log: silentLog });
	for (let index = 0; index < 3000; index++) records.add(recordedRequest(startMs + index, index));
	await records.list({ limit: 1 });
	for (let index = 0; index < 120; index++) {
		records.add(recordedRequest(startMs + 10_000 + index, index));
		await records.find('req_');
	}
	await records.end();
	const database = new DatabaseSync(join(dataDir, 'requests.db'));
	onTestFinished(() => database.close());
	const { blocks } = database.prepare('SELECT count(*) AS blocks FROM blocks').get() as { blocks: number };
	expect(blocks).toBeLessThan(80);
	const { records: sum } = database.prepare('SELECT sum(count) AS records FROM blocks').get() as { records: number };
	expect(sum).toBe(3120);
});

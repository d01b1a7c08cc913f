/** Ten million records: pages, lookups and retention, next to insertion. `REQUEST_RECORDS` changes the number. */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { rare, requestTrace } from '../../test/support/request-trace.ts';
import { type PostgresDatabase, sharePostgres } from '../../test/support/shared-stores.ts';
import { silentLog } from '../core/log.ts';
import { systemClock } from '../io/system-clock.ts';
import type { RequestQuery, RequestRecords } from './contracts/request-records.ts';
import { openPostgresRequestRecords } from './postgres/postgres-request-records.ts';
import { openDatabase } from './sqlite/open-database.ts';
import { createBlockWriting } from './sqlite/request-records/block-database.ts';
import { openSqliteRequestRecords } from './sqlite/sqlite-request-records.ts';

const count = Number(process.env['REQUEST_RECORDS'] ?? 10_000_000);
const startMs = Date.UTC(2026, 10, 21);
const endMs = startMs + count / 5;
const settings = { retainDays: 36_500, maxBytes: 2 ** 40 };
const ports = { clock: systemClock, log: silentLog };

function report(line: string): void {
	process.stdout.write(`${line}\n`);
}

interface Opened {
	readonly records: RequestRecords;
	/** Size on the disk; undefined for a server. */
	bytes(): number | undefined;
	dispose(): Promise<void>;
}

const middle = startMs + count / 10;
const filters: readonly Omit<RequestQuery, 'limit'>[] = [
	{},
	{ team: 'team-0' },
	{ team: 'team-49' },
	{ clientId: 'team-3-client-4' },
	{ clientId: rare.clientId },
	{ attributes: rare.attributes },
	{ clientId: rare.clientId, code: 'rpm_limit_exceeded' },
	{ model: 'fast' },
	{ provider: 'provider_c', status: 429 },
	{ status: 502 },
	{ code: 'rpm_limit_exceeded', team: 'team-20' },
	{ endpoint: '/v1/messages' },
	{ attributes: { project: 'project-3', environment: 'test' } },
	{ team: 'absent' },
	{ team: 'team-7', code: 'budget_exceeded' },
	{ toMs: middle },
	{ fromMs: middle - 60_000, toMs: middle, team: 'team-2' },
	{ toMs: startMs + 1000, status: 429 },
];

describe.each(['SQLite', 'PostgreSQL'])(`${count} request records in %s`, (name) => {
	let opened: Opened;
	const ids: string[] = [];
	let insertedPerSecond = 0;
	beforeAll(async () => {
		opened = await (name === 'SQLite' ? openSqlite() : openPostgres());
		const beganMs = performance.now();
		let added = 0;
		for (const request of requestTrace(count, startMs)) {
			opened.records.add(request);
			if (++added % 100_003 === 0) ids.push(request.id);
			if (added % 20_000 === 0) {
				// Lets the queue write, as time does for a gateway.
				await new Promise((resolve) => setImmediate(resolve));
				if (opened.records.health().queuedRecords > 40_000) await opened.records.list({ limit: 1 });
			}
		}
		await opened.records.list({ limit: 1 });
		insertedPerSecond = count / ((performance.now() - beganMs) / 1000);
		report(`${name}: ${Math.round(insertedPerSecond)} records per second, ${opened.bytes() ?? '-'} bytes`);
	}, 3_600_000);
	afterAll(() => opened.dispose());

	test('insertion keeps up with 5,000 per second, without a loss', () => {
		expect(insertedPerSecond).toBeGreaterThan(5000);
		expect(opened.records.health()).toEqual({ isWritable: true, queuedRecords: 0, droppedRecords: 0 });
	});

	test('the first page of any filter comes within 100 ms', async () => {
		const slow: unknown[] = [];
		for (const filter of filters) {
			const times: number[] = [];
			let found = 0;
			for (let round = 0; round < 5; round++) {
				const beganMs = performance.now();
				found = (await opened.records.list({ limit: 100, ...filter })).requests.length;
				times.push(performance.now() - beganMs);
			}
			const medianMs = times.toSorted((one, other) => one - other)[2] ?? 0;
			report(`${name}: ${medianMs.toFixed(1)} ms, ${found} records, ${JSON.stringify(filter)}`);
			if (medianMs > 100) slow.push([filter, times]);
		}
		expect(slow).toEqual([]);
	}, 600_000);

	test('any page of a long list comes within 100 ms', async () => {
		const times: number[] = [];
		let cursor: string | null = null;
		for (let page = 0; page < 50; page++) {
			const beganMs = performance.now();
			const read: Awaited<ReturnType<RequestRecords['list']>> = await opened.records.list({
				limit: 100,
				team: 'team-0',
				toMs: endMs - 60_000,
				...(cursor !== null && { cursor }),
			});
			times.push(performance.now() - beganMs);
			cursor = read.nextCursor;
			if (cursor === null) break;
		}
		const sorted = times.toSorted((one, other) => one - other);
		report(`${name}: later pages: median ${sorted[Math.floor(sorted.length / 2)]?.toFixed(1)} ms, largest ${sorted.at(-1)?.toFixed(1)} ms`);
		expect(sorted[Math.floor(sorted.length / 2)]).toBeLessThan(100);
	}, 600_000);

	test('a request is found by its id', async () => {
		const times: number[] = [];
		for (const id of ids) {
			const beganMs = performance.now();
			expect((await opened.records.find(id))?.id).toBe(id);
			times.push(performance.now() - beganMs);
		}
		const sorted = times.toSorted((one, other) => one - other);
		report(`${name}: ids: median ${sorted[Math.floor(sorted.length / 2)]?.toFixed(1)} ms, largest ${sorted.at(-1)?.toFixed(1)} ms`);
		expect(sorted[Math.floor(sorted.length / 2)]).toBeLessThan(100);
	}, 600_000);
});

/** Deletes nine tenths while records are inserted: no write may wait for a step of retention. */
test('retention in SQLite deletes in steps that delay no write', async () => {
	const dataDir = mkdtempSync(join(tmpdir(), 'request-records-'));
	const amount = Math.min(count, 500_000);
	const filling = openSqliteRequestRecords({ dataDir, ...settings }, ports);
	for (const request of requestTrace(amount, startMs)) {
		filling.add(request);
		if (filling.health().queuedRecords > 40_000) await filling.list({ limit: 1 });
	}
	await filling.end();
	const before = statSync(join(dataDir, 'requests.db')).size;
	const database = openDatabase(join(dataDir, 'requests.db'), () => undefined, 'process');
	const writing = createBlockWriting(database, () => 0);
	const steps: number[] = [];
	for (let isMore = true; isMore; ) {
		const begunMs = process.threadCpuUsage();
		isMore = writing.pruneSome(0, before / 10);
		const { user, system } = process.threadCpuUsage(begunMs);
		steps.push((user + system) / 1000);
	}
	database.close();
	const sorted = steps.toSorted((one, other) => one - other);
	report(`retention: ${steps.length} steps, median ${sorted[Math.floor(sorted.length / 2)]} ms, largest ${sorted.at(-1)} ms of CPU`);
	rmSync(dataDir, { recursive: true });
	expect(sorted[Math.floor(sorted.length * 0.99)]).toBeLessThan(10);
}, 600_000);

async function openSqlite(): Promise<Opened> {
	const dataDir = mkdtempSync(join(tmpdir(), 'request-records-'));
	const records = openSqliteRequestRecords({ dataDir, ...settings }, ports);
	return {
		records,
		bytes: () => statSync(join(dataDir, 'requests.db')).size,
		async dispose() {
			await records.end();
			rmSync(dataDir, { recursive: true });
		},
	};
}

async function openPostgres(): Promise<Opened> {
	const server: PostgresDatabase = await sharePostgres();
	const records = await openPostgresRequestRecords({ url: server.url, ...settings }, ports);
	return {
		records,
		bytes: () => undefined,
		async dispose() {
			await records.end();
			await server.stop();
		},
	};
}

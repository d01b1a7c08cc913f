/**
 * `node bench/ledger.ts [--rows N] [--postgres URL | --only-postgres]`: cost of the ledger for the thread that serves requests, and cost of
 * a report after a million entries. It also measures the rate at which entries reach PostgreSQL (a temporary server by default).
 */
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { noUsage } from '../src/core/usage.ts';
import { createRequestIds } from '../src/io/request-ids.ts';
import { systemClock } from '../src/io/system-clock.ts';
import type { ClosedEntry, Ledger, OpenEntry } from '../src/stores/contracts/ledger.ts';
import { openPostgresLedger, type PostgresLedger } from '../src/stores/postgres-ledger.ts';
import { openSpoolingLedger, openSqliteLedger } from '../src/stores/sqlite/sqlite-ledger.ts';
import { closeEntry } from '../test/support/close-entry.ts';
import { startPostgres } from '../test/support/postgres-server.ts';

/** Maximum of concurrent closes. */
const maxClosing = 10_000;
const { values } = parseArgs({
	options: {
		rows: { type: 'string', default: '1000000' },
		seconds: { type: 'string', default: '4' },
		postgres: { type: 'string' },
		'only-postgres': { type: 'boolean', default: false },
	},
});
const rowCount = Number(values.rows);
const seconds = Number(values.seconds);
const monthStartMs = Date.UTC(2026, 9, 1);
const monthMs = 31 * 86_400_000;
const teams = 20;
const clientsPerTeam = 5;
const models = ['gpt-5', 'gpt-5-mini', 'claude-opus-4-5', 'claude-sonnet-4-5', 'gemini-3-pro'];

const log = { debug() {}, info: console.log, warn: console.log, error: console.log };
const nextId = createRequestIds(systemClock);

type Written = Pick<Ledger, 'open' | 'close'>;
/** Cost of the loop below without a ledger. */
const nothing: Written = { open: () => ({ failure: undefined }), close: (_row, onClosed) => onClosed('closed') };

for (const durability of values['only-postgres'] ? [] : (['process', 'power'] as const)) {
	await withLedger(durability, async (ledger) => {
		console.log(`\ndurability: ${durability}`);
		await saturate(ledger, 50, 0.5);
		for (const [callers, workUs] of [
			[1, 0],
			[64, 0],
			[256, 0],
			[16, 100],
			[64, 100],
		] as const) {
			const { pairs, ...measured } = await saturate(ledger, callers, seconds, workUs);
			const idle = await saturate(nothing, callers, 0.5, workUs);
			const cpuUs = measured.cpuUs / pairs - idle.cpuUs / idle.pairs;
			print(`${callers} at once${workUs > 0 ? `, other work ${workUs} us` : ''}`, pairs / seconds, cpuUs, measured);
		}
		for (const rate of [500, 2000, 5000]) {
			const { pairs, ...measured } = await pace(ledger, rate, seconds);
			const idle = await pace(nothing, rate, 1);
			print(`${rate} pairs a second`, pairs / seconds, measured.cpuUs / pairs - idle.cpuUs / idle.pairs, measured);
		}
	});
}
if (!values['only-postgres']) await withLedger('process', report);
await withPostgres(async (url) => {
	await catchUp(url);
	await shipUnderLoad(url);
});

interface Measured {
	readonly pairs: number;
	readonly cpuUs: number;
	readonly loopDelayMs: number;
	/** Longest uninterrupted work of the thread, garbage collection included. The rest of a delay is waiting for a core. */
	readonly loopWorkMs: number;
	readonly openMs: readonly number[];
}

function print(
	what: string,
	pairsPerSecond: number,
	cpuUs: number,
	{ openMs, loopDelayMs, loopWorkMs }: Omit<Measured, 'pairs' | 'cpuUs'>,
): void {
	const sorted = openMs.toSorted((left, right) => left - right);
	const quantile = (share: number): string => (sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN).toFixed(2);
	console.log(
		`${what.padEnd(30)} ${pairsPerSecond.toFixed(0).padStart(6)} pairs/s  ${cpuUs.toFixed(2).padStart(6)} us of the main thread a pair  ` +
			`open p50 ${quantile(0.5)} p99 ${quantile(0.99)} max ${quantile(1)} ms  loop delay max ${loopDelayMs.toFixed(1)} ms, of work ${loopWorkMs.toFixed(1)} ms`,
	);
}

/** @param workUs CPU time of other work of the thread per request, half of it before the open and half before the close. */
async function saturate(ledger: Written, callers: number, forSeconds: number, workUs = 0): Promise<Measured> {
	const endMs = performance.now() + forSeconds * 1000;
	return measure(async (call) => {
		const caller = async (): Promise<void> => {
			while (performance.now() < endMs) {
				// Each close runs in its own event, as provider responses arrive.
				await new Promise((resolve) => setImmediate(resolve));
				await call(ledger, undefined, workUs / 2000);
			}
		};
		await Promise.all(Array.from({ length: callers }, caller));
	});
}

/** Arrivals are spread evenly; a request is closed `restMs` after its open. */
async function pace(ledger: Written, rate: number, forSeconds: number, restMs = 20): Promise<Measured> {
	return measure(async (call) => {
		const startMs = performance.now();
		const calls: Promise<void>[] = [];
		while (calls.length < rate * forSeconds) {
			const due = Math.floor(((performance.now() - startMs) / 1000) * rate);
			while (calls.length < due) calls.push(call(ledger, restMs));
			await new Promise((resolve) => setTimeout(resolve, 1));
		}
		await Promise.all(calls);
	});
}

type Call = (ledger: Written, restMs?: number, workMs?: number) => Promise<void>;

async function measure(load: (call: Call) => Promise<void>): Promise<Measured> {
	const openMs: number[] = [];
	const closing = new Set<Promise<unknown>>();
	let pairs = 0;
	const delay = monitorEventLoopDelay({ resolution: 1 });
	delay.enable();
	const work = watchWork();
	const cpu = process.threadCpuUsage();
	await load(async (ledger, restMs, workMs = 0) => {
		beBusy(workMs);
		const row = openEntry(nextId(), Date.now(), pairs++);
		const before = performance.now();
		await ledger.open(row);
		openMs.push(performance.now() - before);
		if (restMs !== undefined) await new Promise((resolve) => setTimeout(resolve, restMs));
		beBusy(workMs);
		// Not awaited: no client waits for a close.
		const closed = closeEntry(ledger, closedEntry(row.id, Date.now())).finally(() => closing.delete(closed));
		closing.add(closed);
		// Limit on pending closes: an open waits for no database, so callers without other work would outrun it.
		if (closing.size > maxClosing) await closed;
	});
	await Promise.all(closing);
	const { user, system } = process.threadCpuUsage(cpu);
	delay.disable();
	return { pairs, cpuUs: user + system, loopDelayMs: delay.max / 1e6, loopWorkMs: work.stop(), openMs };
}

/** Work of the thread between two ticks of a timer. Waiting for other threads does not add to it. */
function watchWork(): { stop(): number } {
	let maxUs = 0;
	let before = process.threadCpuUsage();
	const timer = setInterval(() => {
		const { user, system } = process.threadCpuUsage(before);
		maxUs = Math.max(maxUs, user + system);
		before = process.threadCpuUsage();
	}, 1);
	return {
		stop() {
			clearInterval(timer);
			return maxUs / 1000;
		},
	};
}

function beBusy(forMs: number): void {
	const endMs = performance.now() + forMs;
	while (performance.now() < endMs);
}

async function report(ledger: Ledger, dataDir: string): Promise<void> {
	let written = 0;
	const fill = async (): Promise<void> => {
		while (written < rowCount) {
			const index = written++;
			const startedMs = monthStartMs + Math.floor((index / rowCount) * monthMs);
			const id = nextId();
			await Promise.all([ledger.open(openEntry(id, startedMs, index)), closeEntry(ledger, closedEntry(id, startedMs + 900))]);
		}
	};
	const startMs = performance.now();
	await Promise.all(Array.from({ length: 1000 }, fill));
	const fillMs = performance.now() - startMs;
	const month = { fromMs: monthStartMs, toMs: monthStartMs + monthMs, period: 'month' } as const;
	console.log(`\n${rowCount} rows, ${((rowCount / fillMs) * 1000).toFixed(0)} pairs/s`);
	await time('month, all teams', () => ledger.summarize(month));
	await time('month, one team', () => ledger.summarize({ ...month, team: 'team-3' }));
	await time('month by day, one team', () => ledger.summarize({ ...month, team: 'team-3', period: 'day' }));
	await time('part of a month', () => ledger.summarize({ ...month, fromMs: month.fromMs + 90 * 60_000, toMs: month.toMs - 3e7 }));
	await time('100 newest rows of a team', async () => (await ledger.list({ team: 'team-3', limit: 100 })).rows);
	await time('check', () => ledger.check());
	await ledger.end();
	const bytes = readdirSync(dataDir).reduce((sum, name) => sum + statSync(join(dataDir, name)).size, 0);
	console.log(`${(bytes / rowCount).toFixed(0)} bytes a row, indexes and sums included`);
}

/** Rate at which a spool empties that filled during an outage of the server. */
async function catchUp(url: string): Promise<void> {
	const calls = Math.min(rowCount, 200_000);
	const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-ledger-'));
	const spooling = await openSpoolingLedger(
		{ dataDir, durability: 'process', retainDays: null },
		{ clock: systemClock, log },
		() => undefined,
	);
	let written = 0;
	const fill = async (): Promise<void> => {
		while (written < calls) {
			const row = openEntry(nextId(), Date.now(), written++);
			await Promise.all([spooling.open(row), closeEntry(spooling, closedEntry(row.id, row.startedMs + 900))]);
		}
	};
	await Promise.all(Array.from({ length: 1000 }, fill));
	await spooling.end();
	const ledger = await openPostgresLedger({ url, dataDir, durability: 'process', retainDays: null }, { clock: systemClock, log });
	const startMs = performance.now();
	const cpu = process.threadCpuUsage();
	await untilShipped(ledger);
	const spentSeconds = (performance.now() - startMs) / 1000;
	const { user, system } = process.threadCpuUsage(cpu);
	console.log(
		`\npostgres, ${calls} calls that waited: ${(calls / spentSeconds).toFixed(0)} rows/s, ${((user + system) / calls).toFixed(2)} us of the main thread a row`,
	);
	await ledger.end();
	rmSync(dataDir, { recursive: true });
}

/** Requests of 20 ms, most of which are one entry for the server, and of 1.5 s, all of which are inserted and then updated. */
async function shipUnderLoad(url: string): Promise<void> {
	for (const [rate, restMs] of [
		[2000, 20],
		[10_000, 20],
		[5000, 1500],
	] as const) {
		const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-ledger-'));
		const ledger = await openPostgresLedger({ url, dataDir, durability: 'process', retainDays: null }, { clock: systemClock, log });
		await pace(ledger, 100, 0.5);
		let maxSpooled = 0;
		const looking = setInterval(() => (maxSpooled = Math.max(maxSpooled, ledger.health().spooledEntries)), 20);
		const { pairs, ...measured } = await pace(ledger, rate, seconds, restMs);
		const startMs = performance.now();
		await untilShipped(ledger);
		clearInterval(looking);
		const idle = await pace(nothing, rate, 1, restMs);
		print(`postgres, ${rate} calls/s of ${restMs} ms`, pairs / seconds, measured.cpuUs / pairs - idle.cpuUs / idle.pairs, measured);
		console.log(
			`${' '.repeat(31)}at most ${maxSpooled} spooled, all there ${(performance.now() - startMs).toFixed(0)} ms after the last call`,
		);
		await time('month, all teams', () => ledger.summarize({ fromMs: Date.now() - monthMs, toMs: Date.now() + 1, period: 'month' }));
		await time('100 newest rows of a team', async () => (await ledger.list({ team: 'team-3', limit: 100 })).rows);
		await time('check', () => ledger.check());
		await ledger.end();
		rmSync(dataDir, { recursive: true });
	}
}

/** Waits for a ledger that has entries to send. */
async function untilShipped(ledger: PostgresLedger): Promise<void> {
	for (let hasBegun = false; ; await new Promise((resolve) => setTimeout(resolve, 5))) {
		const { spooledEntries } = ledger.health();
		hasBegun ||= spooledEntries > 0;
		if (hasBegun && spooledEntries === 0) return;
	}
}

async function withPostgres(use: (url: string) => Promise<void>): Promise<void> {
	if (values.postgres !== undefined) {
		await use(values.postgres);
		return;
	}
	const server = await startPostgres('max_wal_size=4GB');
	try {
		await use(await server.createDatabase());
	} finally {
		await server.stop();
	}
}

async function time(what: string, work: () => Promise<readonly unknown[]>): Promise<void> {
	await work();
	const delay = monitorEventLoopDelay({ resolution: 1 });
	delay.enable();
	const startMs = performance.now();
	const rows = await work();
	const spentMs = performance.now() - startMs;
	await new Promise((resolve) => setTimeout(resolve, 5));
	console.log(
		`${what.padEnd(28)} ${spentMs.toFixed(1).padStart(8)} ms, ${rows.length} rows, loop delay max ${(delay.max / 1e6).toFixed(1)} ms`,
	);
}

async function withLedger(durability: 'process' | 'power', use: (ledger: Ledger, dataDir: string) => Promise<void>): Promise<void> {
	const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-ledger-'));
	const ledger = await openSqliteLedger({ dataDir, durability, retainDays: null }, { clock: systemClock, log });
	try {
		await use(ledger, dataDir);
	} finally {
		await ledger.end();
		rmSync(dataDir, { recursive: true });
	}
}

function openEntry(id: string, startedMs: number, index: number): OpenEntry {
	const team = (index * 7) % teams;
	return {
		id,
		startedMs,
		team: `team-${team}`,
		clientId: `client-${team}-${index % clientsPerTeam}`,
		provider: `provider_${index % 3}`,
		model: models[index % models.length] ?? '',
		dialect: index % 2 === 0 ? 'chat' : 'messages',
		isStreaming: true,
		priceVersion: 'default:2026-11-01',
		reservedNanoUsd: 12_345_678n,
		budgets: [`team-${team}`],
		endpoint: index % 2 === 0 ? '/v1/chat/completions' : '/v1/messages',
		attributes: '',
	};
}

function closedEntry(id: string, endedMs: number): ClosedEntry {
	const usage = { ...noUsage, inputTokens: 1234, cacheReadTokens: 5000, outputTokens: 321 };
	return { id, endedMs, outcome: 'complete', status: 200, usage, costNanoUsd: 7_654_321n, isEstimated: false };
}

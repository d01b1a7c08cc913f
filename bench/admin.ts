/**
 * `node bench/admin.ts [--rows N] [--teams N] [--seconds N] [--data DIRECTORY]`: duration of reads of the admin API with a full ledger on
 * the embedded stores. It also measures the delay of the event loop, which the admin role shares with the inference requests. A given
 * directory is filled if it does not exist, and is kept.
 */

import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import { compose } from '../src/compose.ts';
import { parseConfig } from '../src/config/load.ts';
import { plainBudget } from '../src/core/budget.ts';
import { parseUsd } from '../src/core/money.ts';
import { noUsage } from '../src/core/usage.ts';
import { createRequestIds } from '../src/io/request-ids.ts';
import { systemClock } from '../src/io/system-clock.ts';
import { openSqliteLedger } from '../src/stores/sqlite/sqlite-ledger.ts';
import { openSqliteRecords } from '../src/stores/sqlite/sqlite-records.ts';
import { closeEntry } from '../test/support/close-entry.ts';
import { freePort } from '../test/support/product.ts';
import { quantile } from './quantile.ts';

const models = ['gpt-5', 'gpt-5-mini', 'claude-opus-4-5', 'claude-sonnet-4-5', 'gemini-3-pro'];
const operator = { id: 'operator', secret: 'secret-of-the-operator-0123456789' };
const log = { debug() {}, info() {}, warn: console.log, error: console.log };

const singles = [
	'/teams/team-500',
	'/budgets/budget-500',
	'/clients/bot-500',
	'/pricing/provider_b/gpt-5',
	'/usage/team-500',
	'/usage/team-500/history',
];
const lists = ['/teams', '/budgets', '/clients', '/pricing', '/audit', '/requests', '/requests?team=team-500', '/pricing?unpriced=true'];

interface Job {
	readonly baseUrl: string;
	readonly accessToken: string;
	readonly clients: number;
	readonly forMs: number;
	/** Paths requested one after the other; a list is read page by page. */
	readonly paths: readonly string[];
}

interface ResponseTotals {
	readonly timings: readonly (readonly [path: string, ms: number])[];
	/** CPU time of the thread that sends the requests. */
	readonly cpuUs: number;
}

interface Outcome extends Pick<ResponseTotals, 'timings'> {
	readonly tookMs: number;
	/** CPU time of the thread that serves requests. */
	readonly mainUs: number;
	/** CPU time of the stores' threads and of the runtime's other threads. */
	readonly otherUs: number;
}

if (isMainThread) await measureAll();
else parentPort?.on('message', (job: Job) => void read(job).then((responses) => parentPort?.postMessage(responses, [])));

async function measureAll(): Promise<void> {
	const { values } = parseArgs({
		options: {
			rows: { type: 'string', default: '1000000' },
			teams: { type: 'string', default: '1000' },
			seconds: { type: 'string', default: '10' },
			data: { type: 'string' },
		},
	});
	const [rows, teams, forMs] = [Number(values.rows), Number(values.teams), Number(values.seconds) * 1000];
	const directory = values.data ?? mkdtempSync(join(tmpdir(), 'tollgate-admin-bench-'));
	const [adminPort, identityPort, gatewayPort] = [await freePort(), await freePort(), await freePort()];
	const settings = {
		enable_admin_api: true,
		roles: ['edge', 'gateway', 'identity', 'admin'],
		data_dir: join(directory, 'data'),
		gateway: { listen: `127.0.0.1:${gatewayPort}` },
		identity: { listen: `127.0.0.1:${identityPort}`, clients: [{ ...operator, scopes: ['admin'] }] },
		admin: { listen: `127.0.0.1:${adminPort}`, max_requests_per_minute: 1_000_000 },
	};
	const { config } = parseConfig(JSON.stringify(settings), { file: null, env: {} });
	try {
		if (!existsSync(config.data_dir)) await fill(config.data_dir, rows, teams);
		const product = await compose(config, { clock: systemClock, log, version: '0.0.0' });
		await product.start();
		const accessToken = await fetchToken(`http://127.0.0.1:${identityPort}/oauth2/token`);
		console.log(`${rows} rows in the ledger, ${teams} teams, as many budgets and clients`);
		await measureReads({ baseUrl: `http://127.0.0.1:${adminPort}`, accessToken }, forMs);
		await product.stop();
	} finally {
		if (values.data === undefined) rmSync(directory, { recursive: true });
	}
}

async function measureReads(job: Pick<Job, 'baseUrl' | 'accessToken'>, forMs: number): Promise<void> {
	const requester = new Worker(new URL(import.meta.url));
	const run = async (clients: number, runMs: number, paths: readonly string[]): Promise<Outcome> => {
		const [whole, main, startMs] = [process.cpuUsage(), process.threadCpuUsage(), performance.now()];
		requester.postMessage({ ...job, clients, forMs: runMs, paths } satisfies Job, []);
		const [{ timings, cpuUs }] = (await once(requester, 'message')) as [ResponseTotals];
		const mainUs = sumOf(process.threadCpuUsage(main));
		return { timings, mainUs, otherUs: sumOf(process.cpuUsage(whole)) - mainUs - cpuUs, tookMs: performance.now() - startMs };
	};
	const paths = [...singles, ...lists];
	await run(1, 3000, paths);
	const delay = monitorEventLoopDelay({ resolution: 1 });
	delay.enable();
	const idleUs = process.threadCpuUsage();
	await new Promise((resolve) => setTimeout(resolve, 2000));
	/** Share of the CPU that the delay monitor itself uses. */
	const idleShare = sumOf(process.threadCpuUsage(idleUs)) / 2000;
	console.log(`nobody asks: event loop delay ${delayText(delay)}`);

	console.log('\none client                          reads    p50    p99    max ms   CPU main other ms');
	delay.reset();
	const all: Outcome[] = [];
	for (const path of paths) {
		const outcome = await run(1, forMs / paths.length, [path]);
		console.log(rowText(path, outcome, idleShare));
		all.push(outcome);
	}
	console.log(rowText('all', together(all), idleShare));
	console.log(`event loop delay ${delayText(delay)}`);

	console.log('\n20 clients that page through lists  reads    p50    p99    max ms   CPU main other ms');
	delay.reset();
	const crowd = await run(20, forMs, lists);
	for (const [path, timings] of Map.groupBy(crowd.timings, ([one]) => one)) console.log(timesText(path, timings));
	console.log(rowText('all', crowd, idleShare));
	console.log(`event loop delay ${delayText(delay)}`);
	delay.disable();
	await requester.terminate();
}

function together(outcomes: readonly Outcome[]): Outcome {
	const sum = (name: 'mainUs' | 'otherUs' | 'tookMs'): number => outcomes.reduce((total, outcome) => total + outcome[name], 0);
	return {
		timings: outcomes.flatMap(({ timings }) => timings),
		mainUs: sum('mainUs'),
		otherUs: sum('otherUs'),
		tookMs: sum('tookMs'),
	};
}

function sumOf({ user, system }: NodeJS.CpuUsage): number {
	return user + system;
}

function delayText(delay: ReturnType<typeof monitorEventLoopDelay>): string {
	return `p50 ${(delay.percentile(50) / 1e6).toFixed(1)} p99 ${(delay.percentile(99) / 1e6).toFixed(1)} p99.9 ${(delay.percentile(99.9) / 1e6).toFixed(1)} max ${(delay.max / 1e6).toFixed(1)} ms`;
}

function rowText(title: string, { timings, mainUs, otherUs, tookMs }: Outcome, idleShare: number): string {
	const perRead = (us: number): string => (us / timings.length / 1000).toFixed(2).padStart(6);
	return `${timesText(title, timings)}      ${perRead(mainUs - idleShare * tookMs)} ${perRead(otherUs)}`;
}

function timesText(title: string, timings: ResponseTotals['timings']): string {
	const ms = timings.map(([, one]) => one);
	const shown = [0.5, 0.99, 1].map((share) => quantile(ms, share).toFixed(1).padStart(6));
	return `${title.padEnd(34)} ${String(ms.length).padStart(6)} ${shown.join(' ')}`;
}

async function fill(dataDir: string, rows: number, teams: number): Promise<void> {
	const records = openSqliteRecords({ dataDir }, { clock: systemClock, log });
	const author = { actor: 'bench', atMs: Date.now() };
	for (let index = 0; index < teams; index++) {
		const times = { createdAtMs: author.atMs, updatedAtMs: author.atMs };
		const client = {
			id: `bot-${index}`,
			name: `Bot ${index}`,
			secrets: [{ hash: 'scrypt$2$8$1$c2FsdA$aGFzaA', expiresAtMs: null }],
			scopes: ['invoke'],
		};
		await records.clients.create({ ...client, isDisabled: false, canSetAttributes: false, ...times }, { author });
		await records.teams.create(
			{ id: `team-${index}`, name: `Team ${index}`, tier: 'standard', clientIds: [client.id], ...times },
			{ author },
		);
		const limits = { limitNanoUsd: parseUsd('1000') ?? 0n, warningThresholdPercent: 80, hardLimitPercent: 100 };
		await records.budgets.create({ ...plainBudget, id: `budget-${index}`, team: `team-${index}`, ...limits, ...times }, { author });
	}
	await records.close();
	const ledger = await openSqliteLedger({ dataDir, durability: 'process', retainDays: null }, { clock: systemClock, log });
	const nextId = createRequestIds(systemClock);
	const endMs = Date.now();
	const spanMs = 40 * 86_400_000;
	let written = 0;
	const writer = async (): Promise<void> => {
		while (written < rows) {
			const index = written++;
			const id = nextId();
			const startedMs = endMs - spanMs + Math.floor((index / rows) * (spanMs - 60_000));
			const of = index % teams;
			const model = models[Math.floor(index / teams) % models.length] ?? '';
			await Promise.all([
				ledger.open({
					id,
					startedMs,
					team: `team-${of}`,
					clientId: `bot-${of}`,
					provider: 'provider_b',
					model,
					dialect: 'chat',
					isStreaming: false,
					priceVersion: 'default:2026-11-21',
					reservedNanoUsd: 1_000_000n,
					budgets: ['all'],
					endpoint: '/v1/chat/completions',
					attributes: '',
				}),
				closeEntry(ledger, {
					id,
					endedMs: startedMs + 900,
					outcome: 'complete',
					status: 200,
					usage: { ...noUsage, inputTokens: 1000, outputTokens: 200 },
					costNanoUsd: 750_000n,
					isEstimated: false,
				}),
			]);
		}
	};
	await Promise.all(Array.from({ length: 1000 }, writer));
	await ledger.end();
}

async function fetchToken(endpoint: string): Promise<string> {
	const form = { grant_type: 'client_credentials', client_id: operator.id, client_secret: operator.secret, scope: 'tollgate/admin' };
	const response = await fetch(endpoint, { method: 'POST', body: new URLSearchParams(form) });
	return ((await response.json()) as { access_token: string }).access_token;
}

/** Sends requests from a worker thread, so that its own work delays no response. */
async function read({ baseUrl, accessToken, clients, forMs, paths }: Job): Promise<ResponseTotals> {
	const cpu = process.threadCpuUsage();
	const timings: (readonly [string, number])[] = [];
	const endMs = performance.now() + forMs;
	const client = async (_: unknown, first: number): Promise<void> => {
		const cursors = new Map<string, string>();
		for (let turn = first; performance.now() < endMs; turn++) {
			const path = paths[turn % paths.length] ?? '';
			const cursor = cursors.get(path);
			const address = cursor === undefined ? path : `${path}${path.includes('?') ? '&' : '?'}cursor=${encodeURIComponent(cursor)}`;
			const beforeMs = performance.now();
			const response = await fetch(baseUrl + address, { headers: { authorization: `Bearer ${accessToken}` } });
			const text = await response.text();
			timings.push([path, performance.now() - beforeMs]);
			if (response.status !== 200) throw new Error(`${path}: ${response.status} ${text}`);
			const { next_cursor: next } = JSON.parse(text) as { next_cursor?: string | null };
			if (typeof next === 'string') cursors.set(path, next);
			else cursors.delete(path);
		}
	};
	await Promise.all(Array.from({ length: clients }, client));
	return { timings, cpuUs: sumOf(process.threadCpuUsage(cpu)) };
}

/** Every fault on every link, at once and one after another, with killed processes, and correct books afterwards. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished } from 'vitest';
import { createSeededRandom, type SeededRandom } from '../../simulator/seeded-random.ts';
import { systemClock } from '../../src/io/system-clock.ts';
import { openPostgresLedgerReader } from '../../src/stores/postgres-ledger.ts';
import { type BilledRequest, billedCounts, SimulatorBill } from '../support/accounting-bill.ts';
import { plainCounts, reckonNanoUsd, usdOf } from '../support/accounting-prices.ts';
import { print } from '../support/accounting-print.ts';
import { type Caller, callGateway, createCaller, type Seen } from '../support/accounting-request.ts';
import { planProduct, simulatedProviders, statusOf, writeSettings } from '../support/deployment.ts';
import { type FaultLink, linkFaults, openFaultLink } from '../support/fault-link.ts';
import {
	countsOf,
	expectReckonedCosts,
	type LedgerView,
	readLedgerOf,
	untilCountersSay,
	untilNothingReserved,
} from '../support/ledger-view.ts';
import { type PostgresServer, startPostgres } from '../support/postgres-server.ts';
import { launcher, type Running, startProcess } from '../support/processes.ts';
import { eventually, fetchAccessToken, freePort } from '../support/product.ts';
import { type RedisServer, startRedis } from '../support/redis-server.ts';

export interface FaultStorm {
	readonly seed: number;
	readonly seconds: number;
	/** Deaths to draw from; an entry that occurs twice is twice as likely. */
	readonly deaths: readonly Death[];
}

/** Process to kill. `pause`: PostgreSQL stops responding. Redis returns empty. */
export type Death = 'gateway' | 'redis' | 'postgres' | 'pause';

const capTokens = 300;
const inputTokens = 10;
const secret = 'secret-of-every-team-0123456789';
const requestsBeforeBroke = 40;
const totalMs = 4000;
/** Time from a death to the release of its reservations: the longest request, the delay of a store, and 5 s after they expire. */
const reservationsEndMs = totalMs + 30_000 + 5000;

/** Team with budget for all requests. Each other team has budget for some, and its own model, which identifies its part of the bill. */
const rich = { id: 'rich', models: { chat: 'gpt-4o', messages: 'claude-sonnet-4-6' } } as const;
const poor = [
	{ id: 'poor-0', format: 'chat', model: 'gpt-4.1' },
	{ id: 'poor-1', format: 'messages', model: 'claude-haiku-4-5' },
	{ id: 'poor-2', format: 'chat', model: 'gpt-4.1-mini' },
	{ id: 'poor-3', format: 'messages', model: 'claude-opus-4-5' },
] as const;

const budgetOf = (model: string): bigint => BigInt(requestsBeforeBroke) * reckonNanoUsd(model, plainCounts(inputTokens, capTokens));

interface Site {
	readonly gateways: readonly StormedGateway[];
	readonly links: ReadonlyMap<string, FaultLink>;
	readonly redis: RedisServer;
	readonly postgres: PostgresServer;
	readonly simulator: SimulatorBill;
	tokenOf(team: string): string;
}

interface StormedGateway {
	/** URL that bypasses the link to the clients. */
	readonly ownUrl: string;
	readonly url: string;
	restart(): Promise<void>;
	readonly log: () => readonly Record<string, unknown>[];
}

/** @throws unless ledger, counters and the provider's bill agree after all faults have ended. */
export async function expectCorrectLedger(storm: FaultStorm): Promise<void> {
	const { seed, seconds } = storm;
	print(`fault storm of ${seconds} s, seed ${seed}`);
	const site = await openSite();
	const seen = new Map<string, Seen[]>([rich.id, ...poor.map(({ id }) => id)].map((team) => [team, []]));
	let isOver = false;
	const ended = sleep(seconds * 1000).then(() => (isOver = true));
	const isGoing = (): boolean => !isOver;
	const callers = Array.from({ length: 14 }, (_, index) => {
		const random = createSeededRandom(seed + 100 + index);
		return index < 8 ? workRich(site, random, isGoing, seen) : workPoor(site, random, isGoing, seen, seconds);
	});
	const faults = [...site.links].map(([, link], index) => breakLink(link, createSeededRandom(seed + 200 + index), isGoing));
	const deaths = killAll(site, createSeededRandom(seed + 300), isGoing, storm.deaths);
	await Promise.all([ended, ...callers, ...faults, deaths]);
	await Promise.all([...site.links.values()].map((link) => link.heal()));
	for (const { ownUrl, log } of site.gateways) {
		await eventually(
			`${ownUrl} is ready: ${JSON.stringify(log().slice(-3))}`,
			async () => ((await statusOf(`${ownUrl}/readyz`)) === 200 ? true : undefined),
			60_000,
		);
	}
	await expectLedger(site, seen, storm);
}

async function openSite(): Promise<Site> {
	const [redis, postgres] = await Promise.all([startRedis(), startPostgres('fsync=off')]);
	onTestFinished(async () => void (await Promise.all([redis.stop(), postgres.stop()])));
	const teams = [rich.id, ...poor.map(({ id }) => id)];
	const hub = await planProduct({
		roles: ['identity', 'simulator'],
		identity: { clients: teams.map((id) => ({ id, secret, scopes: ['invoke'] })) },
	});
	startProcess(process.execPath, [launcher, 'start', '--config', hub.configPath]);
	const keySetUrl = `${hub.identityUrl}/.well-known/jwks.json`;
	await eventually('the identity is there', async () => ((await statusOf(keySetUrl)) === 200 ? true : undefined), 30_000);
	const tokens = new Map<string, string>();
	for (const id of teams) tokens.set(id, await fetchAccessToken(`${hub.identityUrl}/oauth2/token`, { id, secret }));

	const links = new Map<string, FaultLink>();
	const link = async (name: string, port: number): Promise<number> => {
		const opened = await openFaultLink(port);
		links.set(name, opened);
		onTestFinished(() => opened.close());
		return opened.port;
	};
	const gateways: StormedGateway[] = [];
	for (const name of ['one', 'other']) {
		const port = await freePort();
		const to = async (what: string, url: string): Promise<string> => {
			const far = new URL(url);
			return url.replace(`:${far.port}`, `:${await link(`${name} to ${what}`, Number(far.port))}`);
		};
		const [identityUrl, simulatorUrl] = [await to('identity', hub.identityUrl), await to('simulator', hub.simulatorUrl)];
		const path = join(hub.directory, `${name}.json`);
		writeSettings(path, {
			roles: ['edge', 'gateway'],
			data_dir: join(hub.directory, name),
			auth: { issuer: hub.identityUrl, jwks_uri: `${identityUrl}/.well-known/jwks.json` },
			gateway: {
				listen: `127.0.0.1:${port}`,
				timeouts: { connect_ms: 1000, first_byte_ms: 2000, idle_ms: 2000, total_ms: totalMs, stream_total_ms: totalMs },
			},
			edge: { firewall: { per_ip: { requests: 10_000_000 } }, overload: { loop_delay_ms: 60_000 } },
			tiers: Object.fromEntries([
				['rich', { rpm: null, daily_tokens: 1_000_000_000_000, monthly_budget_usd: '1000000' }],
				...poor.map(({ id, model }) => [id, { rpm: null, daily_tokens: null, monthly_budget_usd: usdOf(budgetOf(model)) }] as const),
			]),
			teams: { unregistered_clients: 'reject', registered: teams.map((id) => ({ id, tier: id, client_ids: [id] })) },
			budgets: { reservation: 'worst_case', store_failure: 'deny' },
			stores: { records: await to('PostgreSQL', postgres.url), counters: await to('Redis', redis.url) },
			providers: simulatedProviders(simulatorUrl),
		});
		gateways.push(startStormed(path, port, await link(`callers to ${name}`, port)));
	}
	for (const { ownUrl } of gateways) {
		await eventually(`${ownUrl} is ready`, async () => ((await statusOf(`${ownUrl}/readyz`)) === 200 ? true : undefined), 30_000);
	}
	const simulator = new SimulatorBill(hub.simulatorUrl);
	await simulator.pace(3);
	await simulator.addFaults({ fault: 'slow-first-byte-50', rate: 0.5, seed: 1 });
	return { gateways, links, redis, postgres, simulator, tokenOf: (team) => tokens.get(team) ?? '' };
}

function startStormed(path: string, port: number, linkedPort: number): StormedGateway {
	const runs: Running[] = [];
	const start = (): void => void runs.push(startProcess(process.execPath, [launcher, 'start', '--config', path]));
	start();
	return {
		ownUrl: `http://127.0.0.1:${port}`,
		url: `http://127.0.0.1:${linkedPort}`,
		log: () => runs.flatMap((run) => run.log),
		async restart() {
			const last = runs.at(-1);
			last?.child.kill('SIGKILL');
			await last?.ended;
			start();
		},
	};
}

async function breakLink(link: FaultLink, random: SeededRandom, isGoing: () => boolean): Promise<void> {
	while (isGoing()) {
		await sleep(random.integer(200, 8000));
		const fault = random.pick(linkFaults, 'cut');
		await link.break(fault, random.integer(5, 400));
		await sleep(random.integer(50, 2500));
		await link.heal();
	}
}

async function killAll(
	{ gateways, redis, postgres }: Site,
	random: SeededRandom,
	isGoing: () => boolean,
	deaths: readonly Death[],
): Promise<void> {
	while (isGoing()) {
		await sleep(random.integer(500, 5000));
		const kind = random.pick(deaths, 'postgres');
		if (kind === 'gateway') await random.pick(gateways, gateways[0] as StormedGateway).restart();
		if (kind === 'redis') await redis.kill();
		if (kind === 'postgres') await postgres.kill();
		if (kind === 'pause') postgres.pause();
		await sleep(random.integer(0, 1500));
		if (kind === 'pause') postgres.resume();
		if (kind === 'redis') await redis.restart();
		if (kind === 'postgres') await postgres.restart();
	}
}

type AllObserved = ReadonlyMap<string, Seen[]>;

async function workRich(site: Site, random: SeededRandom, isGoing: () => boolean, seen: AllObserved): Promise<void> {
	const caller = createCaller(site.tokenOf(rich.id));
	while (isGoing()) {
		const format = random.pick(['chat', 'messages'] as const, 'chat');
		seen.get(rich.id)?.push(await requestOnce(site, caller, random, format, rich.models[format]));
	}
	caller.agent.destroy();
}

/** Sends the requests of one team after the other, each for an equal time. */
async function workPoor(site: Site, random: SeededRandom, isGoing: () => boolean, seen: AllObserved, seconds: number): Promise<void> {
	const startMs = performance.now();
	while (isGoing()) {
		const turn = Math.floor(((performance.now() - startMs) / (seconds * 1000)) * poor.length);
		const { id, format, model } = poor[Math.min(turn, poor.length - 1)] ?? poor[0];
		const caller = createCaller(site.tokenOf(id));
		seen.get(id)?.push(await requestOnce(site, caller, random, format, model));
		caller.agent.destroy();
	}
}

async function requestOnce(
	{ gateways }: Site,
	caller: Caller,
	random: SeededRandom,
	format: 'chat' | 'messages',
	model: string,
): Promise<Seen> {
	const disconnectAfterMs = random.next() < 0.1 ? random.integer(5, 300) : undefined;
	const url = random.pick(gateways, gateways[0] as StormedGateway).url;
	const isStreaming = random.next() < 0.4;
	const one = await callGateway(url, caller, {
		format,
		model,
		isStreaming,
		capTokens,
		disconnectAfterMs: disconnectAfterMs ?? totalMs * 2,
	});
	await sleep(one.status === 200 ? random.integer(5, 50) : 50);
	return one;
}

async function expectLedger(site: Site, seen: AllObserved, storm: FaultStorm): Promise<void> {
	const [gateway] = site.gateways;
	const bill = await eventually(
		'the bill is final',
		async () => {
			const rows = await site.simulator.requests();
			return rows.every(({ outcome }) => outcome !== 'pending') ? rows : undefined;
		},
		20_000,
	);
	const url = gateway?.ownUrl ?? '';
	for (const [team, calls] of seen) {
		const ledgerView = await untilBillAgrees(site, team, calls);
		expect(ledgerView.differences, `sums of ${team}`).toEqual([]);
		expectReckonedCosts(ledgerView.rows);
		expectBilled(ledgerView, calls, bill);
		print(`${team}: ${describe(ledgerView, calls)}`);
		await untilNothingReserved(url, site.tokenOf(team), storm.deaths.includes('gateway') ? reservationsEndMs : 10_000);
		await untilCountersSay(ledgerView.spentNanoUsd, url, site.tokenOf(team));
		const model = poor.find(({ id }) => id === team)?.model;
		if (model !== undefined) expectWithinBudget(team, model, ledgerView, bill);
	}
	// Ensures that requests and faults coincided.
	const statuses = new Set([...seen.values()].flat().map(({ status }) => status));
	expect(statuses).toContain(200);
	expect(statuses.size).toBeGreaterThan(1);
	const caller = createCaller(site.tokenOf(rich.id));
	for (const { ownUrl, log } of site.gateways) {
		const after = await callGateway(ownUrl, caller, { format: 'chat', model: rich.models.chat, capTokens });
		expect([after.status, after.text], 'no refusal is left over').toEqual([200, after.text]);
		const internalErrors = log().filter(({ level, msg }) => level === 'error' && /defect|internal error/.test(String(msg)));
		expect(internalErrors).toEqual([]);
	}
	caller.agent.destroy();
	const unexpected = [...seen.values()].flat().filter(({ status }) => status === 500 || status === 401 || status === 403);
	expect(unexpected.map(({ status, text }) => `${status} ${text}`)).toEqual([]);
}

/** Waits until every entry is closed, and every complete response has one: gateways ship entries late if PostgreSQL was unavailable. */
async function untilBillAgrees({ postgres }: Site, team: string, calls: readonly Seen[]): Promise<LedgerView> {
	const whole = calls.filter(({ isWhole, status }) => isWhole && status === 200);
	let missing: readonly string[] = [];
	let open = 0;
	try {
		return await eventually(
			'the ledger has it all',
			async () => {
				const reader = await openPostgresLedgerReader({ url: postgres.url }, { clock: systemClock, log: silent });
				const ledgerView = await readLedgerOf(reader, team);
				const ids = new Set(ledgerView.rows.map(({ id }) => id));
				expect(ids.size).toBe(ledgerView.rows.length);
				missing = whole.map(({ requestId = 'none' }) => requestId).filter((id) => !ids.has(id));
				open = ledgerView.rows.filter(({ closed }) => closed === undefined).length;
				return missing.length === 0 && open === 0 ? ledgerView : undefined;
			},
			40_000,
		);
	} catch (cause) {
		throw new Error(`${team}: ${open} rows are open still, of whole answers these are missing: ${missing.join(', ')}`, { cause });
	}
}

const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

/** Complete responses are charged with the provider's token counts. */
function expectBilled({ rows }: LedgerView, calls: readonly Seen[], bill: readonly BilledRequest[]): void {
	const rowOf = new Map(rows.map((row) => [row.id, row]));
	const billOf = new Map(bill.map((row) => [row.id, row]));
	for (const { status, isWhole, requestId = '', upstreamId = '' } of calls) {
		const row = rowOf.get(requestId);
		const billed = billOf.get(upstreamId);
		if (status !== 200 || !isWhole || row?.closed?.outcome !== 'complete' || billed?.outcome !== 'complete') continue;
		expect({ requestId, ...countsOf(row) }).toEqual({ requestId, ...billedCounts(billed) });
	}
}

function expectWithinBudget(team: string, model: string, { spentNanoUsd }: LedgerView, bill: readonly BilledRequest[]): void {
	const billed = bill.filter((row) => row.model === model).reduce((sum, row) => sum + reckonNanoUsd(model, billedCounts(row)), 0n);
	expect(billed, `${team} by the provider's bill`).toBeLessThanOrEqual(budgetOf(model));
	expect(spentNanoUsd, `${team} by the ledger`).toBeLessThanOrEqual(budgetOf(model));
}

function describe({ rows, spentNanoUsd }: LedgerView, calls: readonly Seen[]): string {
	const count = (by: Iterable<readonly [string, readonly unknown[]]>): string =>
		[...by].map(([name, some]) => `${some.length} ${name}`).join(', ');
	const statuses = count(Map.groupBy(calls, ({ status }) => String(status)));
	const outcomes = count(Map.groupBy(rows, ({ closed }) => closed?.outcome ?? 'open'));
	return `${calls.length} calls (${statuses}); rows ${outcomes}; spent ${usdOf(spentNanoUsd)}`;
}

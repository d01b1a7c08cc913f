/** The fleet's ledger: each process acknowledges entries on its own disk and sends them to PostgreSQL, which serves reports. */
import { extname } from 'node:path';
import type { Clock, Timer } from '../core/clock.ts';
import type { Log } from '../core/log.ts';
import { UpstreamError } from '../core/upstream-error.ts';
import type { Ledger, LedgerHealth, LedgerReader } from './contracts/ledger.ts';
import { AssessmentShipper } from './postgres/ledger/assessment-shipper.ts';
import { LedgerShipper, type ShippingHealth } from './postgres/ledger/ledger-shipper.ts';
import type { PostgresLedgerOperations } from './postgres/ledger/postgres-ledger-operations.ts';
import type { PostgresLedgerThreadData } from './postgres/ledger/postgres-ledger-worker.ts';
import { openSpoolingLedger, type SpoolingLedger, type SqliteLedgerSettings } from './sqlite/sqlite-ledger.ts';
import { createStoreThread, type StoreThread } from './store-thread.ts';
import { msPerDay, msPerHour } from './sum-tables.ts';

export interface PostgresLedgerSettings extends SqliteLedgerSettings {
	/** `postgres://user:password@host:port/database`. */
	readonly url: string;
}

export interface PostgresLedger extends Ledger {
	health(): LedgerHealth & ShippingHealth;
}

export interface PostgresLedgerDeps {
	readonly clock: Clock;
	readonly log: Log;
}

/** Time for which sent rows stay on this disk. */
const keepSentMs = msPerDay;
const reportDeadlineMs = 5_000;

type PostgresThread = StoreThread<PostgresLedgerOperations>;

/**
 * Starts, and accepts entries, whether or not PostgreSQL responds.
 * @throws StoreUnusable when the local file cannot be opened, or the URL is not a PostgreSQL URL.
 */
export async function openPostgresLedger(settings: PostgresLedgerSettings, deps: PostgresLedgerDeps): Promise<PostgresLedger> {
	const postgres = createPostgresThread(settings.url);
	const address = await openThread(postgres);
	let shipper: LedgerShipper | undefined;
	const local = await openSpoolingLedger(settings, deps, () => shipper?.wake()).catch(async (cause: unknown) => {
		await postgres.stop();
		throw cause;
	});
	const send = (rows: string): ReturnType<PostgresLedgerOperations['send']> => postgres.request('send', rows);
	const shipping = new LedgerShipper({ spool: local.spool, send, ...deps, address });
	shipper = shipping;
	const assessed = new AssessmentShipper({
		unsent: local.unsentAssessments,
		send: (assessments) => postgres.request('sendAssessments', assessments),
		...deps,
	});
	// An earlier process may have left some.
	assessed.wake();
	const stopUpkeep = startUpkeep(settings, deps, local, postgres, shipping);
	const reading = createReading(postgres, deps.clock, address, {
		catchUp: () => shipping.flush(),
		assessed: () => assessed.flush(),
		probe: () => shipping.probe(),
	});
	const end = async (): Promise<void> => {
		stopUpkeep();
		assessed.end();
		await local.stopTaking();
		await within(deps.clock, address, Promise.all([shipping.flush(), assessed.flush().catch(() => undefined)])).catch((cause: unknown) => {
			const { spooledEntries } = shipping.health();
			if (spooledEntries === 0) return;
			deps.log.warn('ledger entries stay spooled on this disk until the next start', { address, cause, spooled_entries: spooledEntries });
		});
		shipping.end();
		await Promise.all([local.end(), reading.end()]);
	};
	let ending: Promise<void> | undefined;
	return {
		open: local.open,
		close: local.close,
		closeInterrupted: local.closeInterrupted,
		assess(some) {
			local.assess(some);
			assessed.wake();
		},
		health: () => ({ ...local.health(), ...shipping.health() }),
		...reading,
		async prune(beforeMs) {
			await unlessUnavailable(shipping.flush());
			await local.prune(beforeMs);
			return unlessUnavailable(postgres.request('prune', beforeMs));
		},
		end() {
			ending ??= end();
			return ending;
		},
	};
}

/** Reader for processes that serve no requests. Entries of other processes appear after a second or two. @throws StoreUnusable */
export async function openPostgresLedgerReader(settings: { readonly url: string }, deps: PostgresLedgerDeps): Promise<LedgerReader> {
	const postgres = createPostgresThread(settings.url);
	const address = await openThread(postgres);
	return createReading(postgres, deps.clock, address, {
		catchUp: async () => undefined,
		assessed: async () => undefined,
		probe: async () => void (await postgres.request('send', '[]')),
	});
}

export function createPostgresThread(url: string): PostgresThread {
	const file = new URL(`./postgres/ledger/postgres-ledger-worker${extname(import.meta.url)}`, import.meta.url);
	return createStoreThread({ file, name: 'ledger postgres', data: { url } satisfies PostgresLedgerThreadData });
}

async function openThread(postgres: PostgresThread): Promise<string> {
	try {
		return await postgres.request('open', null);
	} catch (cause) {
		await postgres.stop();
		throw cause;
	}
}

interface Preparation {
	/** Resolves when PostgreSQL has what this process acknowledged. */
	catchUp(): Promise<void>;
	/** Like `catchUp`, for assessments. */
	assessed(): Promise<void>;
	/** Like `catchUp`, but also waits for a response of the server. */
	probe(): Promise<void>;
}

function createReading(postgres: PostgresThread, clock: Clock, address: string, { catchUp, assessed, probe }: Preparation): LedgerReader {
	const report = <Result>(query: () => Promise<Result>, ready = catchUp): Promise<Result> =>
		unlessUnavailable(within(clock, address, ready().then(query)));
	return {
		summarize: (query) => report(() => postgres.request('summarize', query)),
		sumCosts: (query) => report(() => postgres.request('sumCosts', query)),
		list: (query) => report(() => postgres.request('list', query)),
		readTeam: (query) => report(() => postgres.request('readTeam', query)),
		listAssessments: (query) => report(() => postgres.request('listAssessments', query), assessed),
		verdictsOf: async (requestIds) => new Map(await report(() => postgres.request('verdictsOf', requestIds), assessed)),
		// Without a deadline, on a server that responds.
		async check() {
			await unlessUnavailable(within(clock, address, probe()));
			return unlessUnavailable(postgres.request('check', null));
		},
		end: () => postgres.stop(),
	};
}

/**
 * Runs at the start and every hour: creates partitions ahead, closes lost rows, applies retention, and deletes sent rows from this disk.
 */
function startUpkeep(
	{ retainDays }: PostgresLedgerSettings,
	{ clock, log }: PostgresLedgerDeps,
	local: SpoolingLedger,
	postgres: PostgresThread,
	shipper: LedgerShipper,
): () => void {
	let timer: Timer | undefined;
	let isFailing = false;
	const inPostgres = async (nowMs: number): Promise<void> => {
		const isThere = await shipper.probe().then(
			() => true,
			() => false,
		);
		if (!isThere || timer === undefined) return;
		try {
			const lostEntries = await postgres.request('upkeep', { nowMs, retainDays });
			if (lostEntries > 0) log.warn('interrupted requests of a lost process were charged their reservation', { entries: lostEntries });
			isFailing = false;
		} catch (cause) {
			// Interrupted when the process ends.
			if (timer === undefined) return;
			if (!isFailing) log.warn('ledger maintenance in PostgreSQL failed and is retried every hour', { cause });
			isFailing = true;
		}
	};
	const onDisk = async (nowMs: number): Promise<void> => {
		try {
			await local.spool.pruneSent(nowMs - keepSentMs);
		} catch (cause) {
			log.warn('old ledger entries could not be deleted', { cause });
		}
	};
	const work = (): void => {
		timer = clock.after(msPerHour, work);
		const nowMs = clock.nowMs();
		void inPostgres(nowMs);
		void onDisk(nowMs);
	};
	work();
	return () => {
		timer?.cancel();
		timer = undefined;
	};
}

async function within<Result>(clock: Clock, address: string, work: Promise<Result>): Promise<Result> {
	const { promise, reject } = Promise.withResolvers<never>();
	const timer = clock.after(reportDeadlineMs, () => reject(new Error(`${address}: no response within ${reportDeadlineMs} ms`)));
	try {
		return await Promise.race([work, promise]);
	} finally {
		timer.cancel();
	}
}

async function unlessUnavailable<Result>(response: Promise<Result>): Promise<Result> {
	try {
		return await response;
	} catch (cause) {
		if (cause instanceof RangeError) throw cause;
		throw new UpstreamError('records_unavailable', { message: 'The ledger in PostgreSQL is unavailable', cause });
	}
}

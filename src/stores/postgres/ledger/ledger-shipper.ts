/**
 * Sends the spooled entries of a process to PostgreSQL, a part at a time: read, send, forget. After a failure or crash in between they are
 * sent again, and PostgreSQL counts them once.
 */
import type { Clock, Timer } from '../../../core/clock.ts';
import type { Log } from '../../../core/log.ts';
import type { LedgerSpool, SpoolPart } from '../../contracts/ledger-spool.ts';
import { maxEntriesPerBatch } from './postgres-ledger-schema.ts';

export interface LedgerShipperDeps {
	readonly spool: Pick<LedgerSpool, 'read' | 'forget'>;
	/** Resolves when all rows are committed, except those returned, which can never be stored. */
	readonly send: (rows: string) => Promise<readonly { id: string; why: string }[]>;
	readonly clock: Clock;
	readonly log: Log;
	/** Address of the server in log lines. */
	readonly address: string;
}

export interface ShippingHealth {
	/** False from a failure to the next success. */
	readonly isShipping: boolean;
	/** Opened and closed rows that were not sent at the last check; only the disk limits their number. */
	readonly spooledEntries: number;
	/** Null when there is none. */
	readonly oldestSpooledAgeMs: number | null;
	/** Since the start: rows that PostgreSQL can never store. They stay in the local file only. */
	readonly unstorableEntries: number;
}

/** A request that ends within this time is sent as one row instead of two. */
const pauseMs = 1_000;
/** Part size after a failure, in case the server is slow; each success doubles it. */
const minEntriesPerPart = 500;
const tickMs = 50;

interface Waiter {
	/** Position that must be sent; undefined until the next check. */
	target: number | undefined;
	readonly resolve: () => void;
	readonly reject: (cause: unknown) => void;
}

export class LedgerShipper {
	readonly #deps: LedgerShipperDeps;
	#waiters: Waiter[] = [];
	#timer: Timer | undefined;
	#isBusy = false;
	/** True if entries may have been added since the last check. */
	#isStale = false;
	#isProbing = false;
	#hasEnded = false;
	#failingSinceMs: number | undefined;
	#spooled = { rows: 0, oldestMs: null as number | null };
	#unstorableEntries = 0;
	#entriesPerPart = maxEntriesPerBatch;

	constructor(deps: LedgerShipperDeps) {
		this.#deps = deps;
	}

	/** Signals new entries. */
	wake(): void {
		this.#isStale = true;
		this.#schedule(pauseMs);
	}

	/** Resolves when PostgreSQL has all earlier entries; rejects when the next attempt fails. */
	flush(): Promise<void> {
		return new Promise((resolve, reject) => {
			if (this.#hasEnded) {
				reject(new Error('The process is shutting down'));
				return;
			}
			this.#waiters.push({ target: undefined, resolve, reject });
			this.#schedule(0);
		});
	}

	/** Like `flush`, but sends a request even when there is nothing to send. */
	probe(): Promise<void> {
		this.#isProbing = true;
		return this.flush();
	}

	health(): ShippingHealth {
		const { rows, oldestMs } = this.#spooled;
		return {
			isShipping: this.#failingSinceMs === undefined,
			spooledEntries: rows,
			oldestSpooledAgeMs: oldestMs === null ? null : Math.max(0, this.#deps.clock.nowMs() - oldestMs),
			unstorableEntries: this.#unstorableEntries,
		};
	}

	/** Stops sending. A send in progress completes by itself. */
	end(): void {
		this.#hasEnded = true;
		this.#timer?.cancel();
		this.#timer = undefined;
		this.#rejectWaiters(new Error('The process is shutting down'));
	}

	#schedule(delayMs: number): void {
		if (this.#isBusy || this.#hasEnded) return;
		if (delayMs === 0) {
			this.#timer?.cancel();
			this.#timer = undefined;
			void this.#sendPart();
			return;
		}
		this.#timer ??= this.#deps.clock.after(delayMs, () => {
			this.#timer = undefined;
			void this.#sendPart();
		});
	}

	async #sendPart(): Promise<void> {
		const { spool, send } = this.#deps;
		this.#isBusy = true;
		this.#isStale = false;
		const requested = [...this.#waiters];
		const shouldQuery = this.#isProbing || this.#failingSinceMs !== undefined;
		this.#isProbing = false;
		let part: SpoolPart | undefined;
		try {
			part = await spool.read(this.#entriesPerPart);
			this.#look(part);
			for (const waiter of requested) waiter.target ??= part.last;
			const rejected = part.count > 0 || shouldQuery ? await send(part.rows) : [];
			if (part.through >= part.first) {
				await spool.forget({ through: part.through, rejectedIds: rejected.map(({ id }) => id) });
				this.#entriesPerPart = Math.min(this.#entriesPerPart * 2, maxEntriesPerBatch);
			}
			this.#recordRejected(rejected);
			this.#recovered(part.last - part.through);
			this.#settle(part);
		} catch (cause) {
			this.#failed(cause);
		}
		this.#isBusy = false;
		const delayMs = this.#nextDelayMs(part);
		if (delayMs !== undefined) this.#schedule(delayMs);
	}

	#look({ first, last, oldestMs }: SpoolPart): void {
		this.#spooled = { rows: last - first + 1, oldestMs };
	}

	#settle({ through, last }: SpoolPart): void {
		if (through === last) this.#spooled = { rows: 0, oldestMs: null };
		else this.#spooled.rows = last - through;
		this.#waiters = this.#waiters.filter((waiter) => {
			if (waiter.target === undefined || waiter.target > through) return true;
			waiter.resolve();
			return false;
		});
	}

	/** Undefined when there is nothing to do until the next entry. */
	#nextDelayMs(part: SpoolPart | undefined): number | undefined {
		if (part === undefined || this.#failingSinceMs !== undefined) return pauseMs;
		const isMore = part.through < part.last;
		if (part.isSentByAnother && isMore) return this.#waiters.length > 0 ? tickMs : pauseMs;
		if (this.#waiters.length > 0 || isMore) return 0;
		return this.#isStale ? pauseMs : undefined;
	}

	#recordRejected(rejected: readonly { id: string; why: string }[]): void {
		this.#unstorableEntries += rejected.length;
		for (const { id, why } of rejected) this.#deps.log.error('PostgreSQL cannot store a ledger entry', { id, cause: why });
	}

	#failed(cause: unknown): void {
		const { clock, log, address } = this.#deps;
		if (this.#hasEnded) return;
		this.#entriesPerPart = minEntriesPerPart;
		if (this.#failingSinceMs === undefined) {
			this.#failingSinceMs = clock.monotonicMs();
			log.error('ledger entries cannot be sent to PostgreSQL and stay spooled on this disk', { address, cause });
		}
		this.#rejectWaiters(cause);
	}

	#recovered(spooledEntries: number): void {
		const { clock, log, address } = this.#deps;
		if (this.#failingSinceMs === undefined) return;
		const failedForMs = Math.round(clock.monotonicMs() - this.#failingSinceMs);
		log.info('ledger entries are sent to PostgreSQL again', { address, failed_for_ms: failedForMs, spooled_entries: spooledEntries });
		this.#failingSinceMs = undefined;
	}

	#rejectWaiters(cause: unknown): void {
		const rejected = this.#waiters;
		this.#waiters = [];
		for (const { reject } of rejected) reject(cause);
	}
}

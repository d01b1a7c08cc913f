/**
 * The counters that limit what teams spend. One atomic operation reserves everything that a request needs, or rejects it and names the
 * limit. Each backend passes `admission.contract.ts` unchanged. Any operation may fail with `CountersUnreachable`.
 */
import type { Admission, BudgetPeriod, BudgetReading, CounterReading, RateLimit } from '../../core/counters.ts';

/** A value, or a promise of it if the store has to wait. Failures are always rejected promises. */
export type MaybePromise<Value> = Value | Promise<Value>;

export interface AdmissionStore {
	/**
	 * Admits a request atomically, at the store's own clock, or changes nothing. It counts the request in the team's UTC minute, reserves
	 * tokens of the UTC day, counts it in each further limit, and reserves cost on every budget named. Limits are checked in their order, then
	 * budgets. Tokens are rejected once settled and reserved ones have reached the limit. Tokens of a request count in the day and the minute
	 * of its admission. An `id` that was admitted is admitted again without being counted again; one that was rejected is checked again.
	 * @throws CountersMissing
	 */
	admit(request: AdmissionRequest): MaybePromise<Admission>;
	/**
	 * Records the actual cost of a request and releases its reservations. The first of `settle` and `release` for an id wins. A settlement
	 * whose reservation has expired, or never existed, is still recorded (`isLate`); one of a request that has ended is not (`isDuplicate`).
	 * @throws CountersMissing
	 */
	settle(settlement: Settlement): MaybePromise<Settled>;
	/** Releases the reservations of a request that never reached a provider. It remains counted as admitted. Idempotent. */
	release(id: string, team: string): Promise<void>;
	/**
	 * Raises the reservations of an in-flight request to these amounts (never lowers them) if every budget allows what it would have allowed
	 * at admission. Otherwise changes nothing. @returns true if these amounts are reserved now; false too for an unknown or ended id.
	 * @throws CountersMissing
	 */
	extend(id: string, team: string, reservations: readonly BudgetReservation[]): Promise<boolean>;
	/**
	 * Renews the reservation of an in-flight request, and raises it towards these amounts as far as every budget allows: `fittingNanoUsd`.
	 * @param reservations if empty, the reservation is only renewed. @param reservationMs as at admission, from now.
	 * @returns the part of these amounts that is reserved now; undefined for an unknown or ended id.
	 * @throws CountersMissing
	 */
	grow(id: string, team: string, reservations: readonly BudgetReservation[], reservationMs: number): Promise<bigint | undefined>;
	/** Reads the counters; changes nothing. @param limits further limits to read. @throws CountersMissing */
	read(team: string, budgets: readonly BudgetPeriod[], limits?: readonly RateLimit[]): Promise<CounterReading>;
	/** Sets totals that the store does not have; existing ones stay. If several processes restore at once, the first one wins. */
	restore(totals: TeamTotals): Promise<void>;
	/**
	 * Reserves again, without checks or counting, what in-flight requests had reserved. Requests that the store knows, or knows to have
	 * ended, stay unchanged. @throws CountersMissing
	 */
	restoreReservations(team: string, requests: readonly ReservedRequest[]): Promise<void>;
	/** Runs `listener` whenever the store was unreachable and may have lost reservations of in-flight requests. */
	onReturn(listener: () => void): void;
	/** Connection state, as known without a request. A store without a connection omits it. */
	isConnected?(): boolean;
	close(): Promise<void>;
}

/** The store has no counters of the team, or of one of the budgets in its period: restore them, then retry. */
export class CountersMissing extends Error {
	override readonly name = 'CountersMissing';

	constructor(team: string) {
		const { stackTraceLimit } = Error;
		// Skips the stack trace: a page of budgets throws this a hundred times, and the trace would cost more than all the rest.
		Error.stackTraceLimit = 0;
		super(`The counters of team ${team} are not restored yet`);
		Error.stackTraceLimit = stackTraceLimit;
	}
}

/** The store did not respond, or could not perform the operation. It is unknown whether the operation took effect. */
export class CountersUnreachable extends Error {
	override readonly name = 'CountersUnreachable';
}

/** Time for which an ended request is remembered, so that a repeated settlement counts once. */
export const endedRetentionMs = 15 * 60_000;

/** Maximum lifetime of a reservation. */
export const maxReservationMs = 24 * 3_600_000;

export interface AdmissionRequest {
	/** Request id. */
	readonly id: string;
	readonly team: string;
	/** Each counter at most once. Requests of the minute and tokens of the day are counted without a limit too. */
	readonly limits: readonly RateLimit[];
	/** Estimated tokens, reserved in the UTC minute and day of admission until the request ends. Default 0. */
	readonly reservedTokens?: number;
	/** Each budget at most once. */
	readonly reservations: readonly BudgetReservation[];
	/** Lifetime from now of a reservation that is never released, rounded up to the store's next whole second; at most `maxReservationMs`. */
	readonly reservationMs: number;
}

export interface BudgetReservation extends BudgetPeriod {
	readonly limitNanoUsd: bigint;
	readonly amountNanoUsd: bigint;
	/**
	 * `before`: reject when settled + reserved has reached the limit. `after`: also reject when this amount would exceed it. `fit`: reserve
	 * as much of the amount as is left, and reject when that is less than `minNanoUsd`.
	 */
	readonly check: 'before' | 'after' | 'fit';
	/** Minimum amount for `fit`, default 0; minimum step when a reservation grows. */
	readonly minNanoUsd?: bigint;
}

/** Number of parts into which the rest of a budget is divided. A request takes at most one, so that others find something too. */
export const remainderShares = 32n;

/** Returns the amount by which a reservation is raised. @param remainingNanoUsd not negative. */
export function fittingNanoUsd(remainingNanoUsd: bigint, wantedNanoUsd: bigint, minNanoUsd: bigint): bigint {
	const share = remainingNanoUsd / remainderShares;
	const min = minNanoUsd < remainingNanoUsd ? minNanoUsd : remainingNanoUsd;
	const max = share > min ? share : min;
	return max < wantedNanoUsd ? max : wantedNanoUsd;
}

export interface Settlement {
	readonly id: string;
	readonly team: string;
	/** By the caller's clock, unix milliseconds. Determines the day of the tokens if the store has no reservation. */
	readonly admittedMs: number;
	readonly tokens: number;
	readonly costNanoUsd: bigint;
	/** Budgets on which the cost is recorded: those that the request reserved last. All of its reservations are released. */
	readonly budgets: readonly BudgetPeriod[];
}

export interface Settled {
	readonly isDuplicate: boolean;
	readonly isLate: boolean;
	/** State after the settlement. */
	readonly budgets: readonly BudgetReading[];
}

export interface TeamTotals {
	readonly team: string;
	/** Tokens of the current UTC day; used only if the store had no counters of the team. */
	readonly tokensToday: number;
	readonly budgets: readonly BudgetTotal[];
	/**
	 * Requests whose cost the totals include and whose settlement may still arrive: it will change nothing. Used only if the store had no
	 * counters of the team.
	 */
	readonly endedIds: readonly string[];
	/** Open requests in the ledger: they are reserved again, because their process may have died. */
	readonly inFlightRequests?: readonly ReservedRequest[];
}

export interface BudgetTotal extends BudgetPeriod {
	readonly settledNanoUsd: bigint;
}

/** Later periods of the same budget and length after which a counter without reservations is dropped: late settlements need the latest. */
export const maxLaterPeriods = 3;

/** Name of the counter of a limit that is not counted always: `tpm`, or `rpm:` and a pattern. */
export function rateName({ kind, models }: Pick<RateLimit, 'kind' | 'models'>): string {
	return models === undefined ? kind : `${kind}:${models}`;
}

/** Key of a budget in its period: `2026-11/name`. */
export function budgetKey({ budget, period }: BudgetPeriod): string {
	return `${period}/${budget}`;
}

/** An in-flight request. */
export interface ReservedRequest {
	readonly id: string;
	/** By the caller's clock, unix milliseconds. */
	readonly admittedMs: number;
	/** Lifetime from now. */
	readonly reservationMs: number;
	/** Default 0. They count on the day on which they were reserved, if that is the store's day. */
	readonly reservedTokens?: number;
	readonly reservations: readonly (BudgetPeriod & { readonly amountNanoUsd: bigint })[];
}

/**
 * The counters that bound what teams spend. One atomic operation takes everything a call needs, or refuses and names
 * what binds. Each backend passes `admission.contract.ts` unchanged. Any operation may fail with `CountersUnreachable`.
 */
import type { Admission, BudgetPeriod, BudgetReading, CounterReading } from '../../core/counters.ts';

/** Of a store that need not be waited for, the value itself. What fails is a promise that rejects, of every store. */
export type AtHand<Value> = Value | Promise<Value>;

export interface AdmissionStore {
	/**
	 * Atomically, at the store's own clock: counts the call in the team's UTC minute, reserves tokens of the UTC day unless settled and
	 * reserved ones have reached the limit, and holds money on every budget named; or changes nothing at all. An `id` that was admitted is admitted again without
	 * being counted again; one that was refused is judged anew.
	 * @throws CountersMissing
	 */
	admit(request: AdmissionRequest): AtHand<Admission>;
	/**
	 * Books what the call really took and ends its holds. The first of `settle` and `release` for an id wins. A settlement
	 * whose hold is over, or never was, is still booked (`isLate`); one whose call has ended is not (`isDuplicate`).
	 * @throws CountersMissing
	 */
	settle(settlement: Settlement): AtHand<Settled>;
	/** Ends the holds of a call that never reached a provider and takes it out of nothing else: it was admitted. Idempotent. */
	release(id: string, team: string): Promise<void>;
	/**
	 * Raises the holds of a running call to these amounts (never lowers) if every budget allows what it would have allowed
	 * at admission, else changes nothing. @returns whether the call now holds them; false too for an unknown or ended id.
	 * @throws CountersMissing
	 */
	extend(id: string, team: string, holds: readonly BudgetHold[]): Promise<boolean>;
	/**
	 * Renews the reservation of a running request, and raises it towards these amounts as far as every budget has it left: `fittingNanoUsd`.
	 * @param holds none: it is renewed only. @param holdMs as at admission, from now.
	 * @returns what is reserved of these amounts now; undefined for an unknown or ended id.
	 * @throws CountersMissing
	 */
	grow(id: string, team: string, holds: readonly BudgetHold[], holdMs: number): Promise<bigint | undefined>;
	/** What the counters say now; changes nothing. @throws CountersMissing */
	read(team: string, budgets: readonly BudgetPeriod[]): Promise<CounterReading>;
	/** Gives the store totals it does not know; those that it knows stay. Of several who restore at once, the first counts. */
	restore(totals: TeamTotals): Promise<void>;
	/**
	 * Holds again, unchecked and uncounted, what calls in flight hold. Calls that the store knows, or knows to have ended,
	 * stay as they are. @throws CountersMissing
	 */
	rehold(team: string, calls: readonly HeldCall[]): Promise<void>;
	/** Runs `listener` whenever the store was away and may have forgotten what calls in flight hold. */
	onReturn(listener: () => void): void;
	/** What is known without asking; a store that has nothing to lose sight of need not say. */
	isConnected?(): boolean;
	close(): Promise<void>;
}

/** The store knows nothing of the team, or of one of the budgets in its period: to be restored, then tried again. */
export class CountersMissing extends Error {
	override readonly name = 'CountersMissing';

	constructor(team: string) {
		const { stackTraceLimit } = Error;
		// Expected, and a hundred times for a page of budgets: to note where would cost more than all else.
		Error.stackTraceLimit = 0;
		super(`The counters of team ${team} are not restored yet`);
		Error.stackTraceLimit = stackTraceLimit;
	}
}

/** The store did not answer, or could not do what it was asked. Nobody knows whether it was done. */
export class CountersUnreachable extends Error {
	override readonly name = 'CountersUnreachable';
}

/** How long a call that has ended is remembered, so that what comes twice is counted once. */
export const rememberEndedMs = 15 * 60_000;

/** The longest time that a hold may last. */
export const maxHoldMs = 24 * 3_600_000;

export interface AdmissionRequest {
	/** The request's id. */
	readonly id: string;
	readonly team: string;
	/** null: unlimited. */
	readonly requestsPerMinute: number | null;
	readonly dailyTokens: number | null;
	/** Of the UTC day of admission, until the request ends: an estimate. 0 unless given. */
	readonly reservedTokens?: number;
	/** Each budget at most once. */
	readonly holds: readonly BudgetHold[];
	/**
	 * From now until a hold that nobody ended is given back, rounded up to the store's next whole second; at most
	 * `maxHoldMs`.
	 */
	readonly holdMs: number;
}

export interface BudgetHold extends BudgetPeriod {
	readonly limitNanoUsd: bigint;
	readonly amountNanoUsd: bigint;
	/**
	 * `before`: reject when settled + reserved has reached the limit; `after`: also when it would with this amount exceed it; `fit`: reserve
	 * as much of the amount as is left, and reject when that is less than `leastNanoUsd`.
	 */
	readonly check: 'before' | 'after' | 'fit';
	/** Of `fit`; 0 unless given. When a reservation grows, the least step. */
	readonly leastNanoUsd?: bigint;
}

/** A request that takes what is left of a budget takes at most one part of so many, so that others find something too. */
export const partsOfWhatIsLeft = 32n;

/** What a reservation is raised by. @param leftNanoUsd not negative. */
export function fittingNanoUsd(leftNanoUsd: bigint, wantedNanoUsd: bigint, leastNanoUsd: bigint): bigint {
	const share = leftNanoUsd / partsOfWhatIsLeft;
	const least = leastNanoUsd < leftNanoUsd ? leastNanoUsd : leftNanoUsd;
	const most = share > least ? share : least;
	return most < wantedNanoUsd ? most : wantedNanoUsd;
}

export interface Settlement {
	readonly id: string;
	readonly team: string;
	/** By the caller's clock, unix milliseconds. Tells the day to which the tokens belong when the store has no hold to tell it. */
	readonly admittedMs: number;
	readonly tokens: number;
	readonly costNanoUsd: bigint;
	/** What the cost is booked on: those that the call held last. All that it holds is given back. */
	readonly budgets: readonly BudgetPeriod[];
}

export interface Settled {
	readonly isDuplicate: boolean;
	readonly isLate: boolean;
	/** After booking. */
	readonly budgets: readonly BudgetReading[];
}

export interface TeamTotals {
	readonly team: string;
	/** Of the current UTC day; counts only when the store knew nothing of the team. */
	readonly tokensToday: number;
	readonly budgets: readonly BudgetTotal[];
	/**
	 * Calls whose cost the totals contain and whose settlement may still come: it will change nothing. Count only when the
	 * store knew nothing of the team.
	 */
	readonly endedIds: readonly string[];
	/** Calls that the record has as open: what they hold is held again, for their process may have died. */
	readonly openCalls?: readonly HeldCall[];
}

export interface BudgetTotal extends BudgetPeriod {
	readonly settledNanoUsd: bigint;
}

/** A budget in its period as one word: `2026-11/name`. */
export function budgetKey({ budget, period }: BudgetPeriod): string {
	return `${period}/${budget}`;
}

/** A call in flight. */
export interface HeldCall {
	readonly id: string;
	/** By the caller's clock, unix milliseconds. */
	readonly admittedMs: number;
	/** From now. */
	readonly holdMs: number;
	/** 0 unless given. They count on the day on which they were reserved, if that is the store's day. */
	readonly reservedTokens?: number;
	readonly holds: readonly (BudgetPeriod & { readonly amountNanoUsd: bigint })[];
}

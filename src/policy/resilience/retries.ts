import { Fault } from '../../core/fault.ts';
import type { AttemptResult } from './attempt-result.ts';
import type { TrafficTerms } from './traffic-terms.ts';

const firstBackoffMs = 100;
const longestBackoffMs = 2000;

/** Who is told to come back later than this is better told so himself. */
const longestWaitMs = 10_000;

export interface FailedAttempt {
	readonly result: AttemptResult;
	/** The provider may charge for it. */
	readonly mayCost: boolean;
	/** A 429 that no waiting helps. */
	readonly isSpendStop: boolean;
	/** What the provider asks for; undefined when it asks for nothing. */
	readonly retryAfterMs: number | undefined;
	/** Attempts at this provider before this one. */
	readonly retriesBefore: number;
	/** Of the time that the call may take. */
	readonly remainingMs: number;
}

/**
 * How long to wait before the call is sent to the same provider again; undefined: not at all. Only what the provider has certainly not
 * worked on is sent again: connections that were never made, and answers of the statuses given.
 */
export function retryWaitMs(attempt: FailedAttempt, terms: TrafficTerms, chance: () => number): number | undefined {
	const { result, mayCost, isSpendStop, retryAfterMs, retriesBefore, remainingMs } = attempt;
	if (retriesBefore >= terms.retries || mayCost || isSpendStop) return undefined;
	const isWorthIt = typeof result === 'number' ? terms.retryStatuses.includes(result) : isNeverConnected(result);
	if (!isWorthIt) return undefined;
	const backoffMs = Math.min(firstBackoffMs * 2 ** retriesBefore, longestBackoffMs) * (0.5 + chance() / 2);
	const waitMs = Math.max(backoffMs, retryAfterMs ?? 0);
	return waitMs <= Math.min(longestWaitMs, remainingMs / 2) ? waitMs : undefined;
}

/** A connection that could not be made in time would not be made in time again. */
function isNeverConnected(result: Exclude<AttemptResult, number>): boolean {
	return result instanceof Fault && result.code === 'provider_unreachable';
}

/** What one call adds: retries are at most a fifth of the calls. */
const retriesPerCall = 0.2;

/** Saved up at most, and to begin with, so that a provider with few calls has some. */
const maxSavedRetries = 10;

/** Keeps retries from multiplying the load on a provider that has too much of it already. */
export class RetryBudget {
	#balance = maxSavedRetries;

	countCall(): void {
		this.#balance = Math.min(this.#balance + retriesPerCall, maxSavedRetries);
	}

	/** @returns whether one more retry is allowed; it is taken then. */
	take(): boolean {
		if (this.#balance < 1) return false;
		this.#balance--;
		return true;
	}
}

import { UpstreamError } from '../../core/upstream-error.ts';
import type { AttemptResult } from './attempt-result.ts';
import type { TrafficSettings } from './traffic-settings.ts';

const firstBackoffMs = 100;
const maxBackoffMs = 2000;

/** Maximum wait; for a longer one the client gets the response, with its own `retry-after`. */
const maxWaitMs = 10_000;

export interface FailedAttempt {
	readonly result: AttemptResult;
	/** The provider may charge for the attempt. */
	readonly canCost: boolean;
	/** Marks a 429 that no waiting resolves. */
	readonly isSpendStop: boolean;
	/** Wait that the provider requests; undefined for none. */
	readonly retryAfterMs: number | undefined;
	/** Number of earlier attempts at this provider. */
	readonly retriesBefore: number;
	/** Remaining time of the request's timeout. */
	readonly remainingMs: number;
}

/**
 * Returns the wait before the request is sent to the same provider again; undefined for no retry. Only requests that the provider has
 * certainly not processed are retried: those without a connection, and those with one of the configured statuses.
 */
export function retryWaitMs(attempt: FailedAttempt, terms: TrafficSettings, chance: () => number): number | undefined {
	const { result, canCost, isSpendStop, retryAfterMs, retriesBefore, remainingMs } = attempt;
	if (retriesBefore >= terms.retries || canCost || isSpendStop) return undefined;
	const isWorthIt = typeof result === 'number' ? terms.retryStatuses.includes(result) : isNeverConnected(result);
	if (!isWorthIt) return undefined;
	const backoffMs = Math.min(firstBackoffMs * 2 ** retriesBefore, maxBackoffMs) * (0.5 + chance() / 2);
	const waitMs = Math.max(backoffMs, retryAfterMs ?? 0);
	return waitMs <= Math.min(maxWaitMs, remainingMs / 2) ? waitMs : undefined;
}

/** Excludes a connection that timed out, because the next one would too. */
function isNeverConnected(result: Exclude<AttemptResult, number>): boolean {
	return result instanceof UpstreamError && result.code === 'provider_unreachable';
}

/** Retries that one request adds: at most a fifth of the requests. */
const retriesPerCall = 0.2;

/** Maximum and initial number of saved retries, so that a provider with few requests has some. */
const maxSavedRetries = 10;

/** Limits retries, so that they do not multiply the load on an overloaded provider. */
export class RetryBudget {
	#balance = maxSavedRetries;

	countRequest(): void {
		this.#balance = Math.min(this.#balance + retriesPerCall, maxSavedRetries);
	}

	/** @returns true if another retry is allowed, which is then deducted. */
	take(): boolean {
		if (this.#balance < 1) return false;
		this.#balance--;
		return true;
	}
}

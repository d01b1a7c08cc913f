/** How calls to one provider are bounded and repeated. */
export interface TrafficTerms {
	/** How often a call is sent again to the same provider, at most. */
	readonly retries: number;
	/** Statuses whose answers are worth a retry, beside connections that were never made. */
	readonly retryStatuses: readonly number[];
	/** Calls in flight at once; streams count until they end. */
	readonly maxConcurrent: number;
	/** Calls that wait for one of those to end. */
	readonly maxQueued: number;
	/** Failures in a row after which other targets are preferred; null: never. */
	readonly ejectAfterFailures: number | null;
}

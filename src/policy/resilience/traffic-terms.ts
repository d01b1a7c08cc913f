/** How calls to one provider are bounded and repeated. */
export interface TrafficTerms {
	/** How often a call is sent again to the same provider, at most. */
	readonly retries: number;
	/** Statuses whose answers are worth a retry, beside connections that were never made. */
	readonly retryStatuses: readonly number[];
	/** Requests in flight at once; streams count until they end. */
	readonly maxConcurrent: number;
	/** Requests that wait for a slot. */
	readonly maxQueued: number;
	/** Failures in a row after which other targets are preferred; null: never. */
	readonly ejectAfterFailures: number | null;
}

/** Limits and retries of requests to one provider. */
export interface TrafficSettings {
	/** Maximum number of retries of a request at the same provider. */
	readonly retries: number;
	/** Statuses of responses that are retried, in addition to failed connections. */
	readonly retryStatuses: readonly number[];
	/** Maximum in-flight requests; streams count until they end. */
	readonly maxConcurrent: number;
	/** Maximum requests that wait for a slot. */
	readonly maxQueued: number;
	/** Consecutive failures after which other targets are preferred; null: never. */
	readonly ejectAfterFailures: number | null;
}

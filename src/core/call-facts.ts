/**
 * What is known of a request when its log line is written. No bodies, no secrets, no prompt text.
 * A class, so that each has room for all of it from the start.
 */
export class CallFacts {
	/** The request's id as its answer carries it, where a gateway behind an edge gave the answer one. */
	readonly answeredId?: string | undefined;
	readonly clientId?: string | undefined;
	readonly team?: string | undefined;
	readonly provider?: string | undefined;
	readonly model?: string | undefined;
	/** Code of the refusal, fault or defect that ended the request. */
	readonly code?: string | undefined;
	/** Milliseconds from the request's arrival to the upstream's first byte. */
	readonly firstByteMs?: number | undefined;
	readonly upstreamStatus?: number | undefined;
	readonly isStreamed?: boolean | undefined;
	readonly requestBytes?: number | undefined;
	/** Cache reads and writes included. */
	readonly inputTokens?: number | undefined;
	readonly outputTokens?: number | undefined;
	readonly costNanoUsd?: bigint | undefined;
	/** Tokens were counted from what was seen instead of told by the provider. */
	readonly isEstimated?: boolean | undefined;
	/** The call passed while the counters could not be reached. */
	readonly isUncounted?: boolean | undefined;
}

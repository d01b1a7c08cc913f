/**
 * The record of a request, from which its log line is written. No bodies, no secrets, no prompt text. A class, so that every instance has
 * the same shape from the start.
 */
export class RequestRecord {
	/** Request id in the response, if a gateway behind an edge set another one. */
	readonly relayedRequestId?: string | undefined;
	readonly clientId?: string | undefined;
	readonly team?: string | undefined;
	readonly provider?: string | undefined;
	readonly model?: string | undefined;
	/** Code of the policy rejection, upstream error or internal error that ended the request. */
	readonly code?: string | undefined;
	/** Milliseconds from the request's arrival to the upstream's first byte. */
	readonly firstByteMs?: number | undefined;
	readonly upstreamStatus?: number | undefined;
	readonly isStreaming?: boolean | undefined;
	readonly requestBytes?: number | undefined;
	/** Includes cache reads and writes. */
	readonly inputTokens?: number | undefined;
	readonly outputTokens?: number | undefined;
	readonly costNanoUsd?: bigint | undefined;
	/** True if the usage is estimated, because the provider reported none. */
	readonly isEstimated?: boolean | undefined;
	/** True if the request was admitted while the counters were unreachable. */
	readonly isUncounted?: boolean | undefined;
}

/**
 * What is known of a request when its log line is written. No bodies, no secrets, no prompt text.
 * A class, so that each has room for all of it from the start.
 */
export class CallFacts {
	/** The request's id as its answer carries it, where a gateway behind an edge gave the answer one. */
	answeredId?: string | undefined;
	clientId?: string | undefined;
	team?: string | undefined;
	provider?: string | undefined;
	model?: string | undefined;
	/** Code of the refusal, fault or defect that ended the request. */
	code?: string | undefined;
	/** Milliseconds from the request's arrival to the upstream's first byte. */
	firstByteMs?: number | undefined;
	upstreamStatus?: number | undefined;
	isStreamed?: boolean | undefined;
	requestBytes?: number | undefined;
	/** Cache reads and writes included. */
	inputTokens?: number | undefined;
	outputTokens?: number | undefined;
	costNanoUsd?: bigint | undefined;
	/** Tokens were counted from what was seen instead of told by the provider. */
	isEstimated?: boolean | undefined;
	/** The call passed while the counters could not be reached. */
	isUncounted?: boolean | undefined;
}

/** What is known of a request when its log line is written. No bodies, no secrets, no prompt text. */
export interface CallFacts {
	clientId?: string;
	team?: string;
	provider?: string;
	model?: string;
	/** Code of the refusal, fault or defect that ended the request. */
	code?: string;
	/** Milliseconds from the request's arrival to the upstream's first byte. */
	firstByteMs?: number;
	upstreamStatus?: number;
	isStreamed?: boolean;
	requestBytes?: number;
	/** Cache reads and writes included. */
	inputTokens?: number;
	outputTokens?: number;
	costNanoUsd?: bigint;
	/** Tokens were counted from what was seen instead of told by the provider. */
	isEstimated?: boolean;
	/** The call passed while the counters could not be reached. */
	isUncounted?: boolean;
}

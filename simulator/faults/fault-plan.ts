/** Faults of one response, and its prescribed content. Absent fields stand for a healthy provider. */
export interface FaultPlan {
	/** Delay before the response headers. */
	readonly firstByteMs?: number;
	/** Delay between the response headers, which are sent at once, and the first event. */
	readonly firstEventMs?: number;
	readonly intervalMs?: number;
	readonly outputTokens?: number;
	readonly thinkingTokens?: number;
	/** Approximate number of text tokens in each event. */
	readonly tokensPerEvent?: number;
	/** `failure`: the model fails after it accepted the request; an error status in the APIs that cannot report it. */
	readonly declines?: 'refusal' | 'filter' | 'failure';
	/** HTTP status of the error response. */
	readonly status?: number;
	/** Makes the error one about spending, not about the request rate. */
	readonly isQuota?: boolean;
	readonly retryAfterSeconds?: number;
	/** Sends no response: the connection is reset, or hangs. */
	readonly silence?: 'reset' | 'hang';
	/** Replaces the response completely. */
	readonly replacement?: 'html' | 'empty' | 'redirect';
	readonly hasWrongContentType?: boolean;
	/** Breaks the stream off after a number of events; a non-streaming body breaks off in its middle. */
	readonly breakOff?: BreakOff;
	readonly isMalformed?: boolean;
	readonly omitsUsage?: boolean;
	readonly repeatsStart?: boolean;
	readonly omitsIndex?: boolean;
	readonly emptiesIds?: boolean;
}

export interface BreakOff {
	readonly afterEvents: number;
	/** `cut`: connection destroyed. `cut-inside`: the same in the middle of the next event. `end`: ended as if complete. */
	readonly manner: 'stall' | 'cut' | 'cut-inside' | 'end' | 'error-event';
}

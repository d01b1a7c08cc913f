/** What goes wrong with one answer, and what it is made to say. Absent fields are as a healthy provider has them. */
export interface FaultPlan {
	/** The head of the answer waits. */
	readonly firstByteMs?: number;
	/** The head comes at once, the first event waits. */
	readonly firstEventMs?: number;
	readonly intervalMs?: number;
	readonly outputTokens?: number;
	readonly thinkingTokens?: number;
	/** Each event carries about so many tokens of text. */
	readonly tokensPerEvent?: number;
	readonly declines?: 'refusal' | 'filter';
	/** The provider answers with this error. */
	readonly status?: number;
	/** The error is about money, not about speed. */
	readonly isQuota?: boolean;
	readonly retryAfterSeconds?: number;
	/** No answer: the connection is reset, or nothing is ever said. */
	readonly silence?: 'reset' | 'hang';
	/** Replaces the answer whole. */
	readonly replacement?: 'html' | 'empty' | 'redirect';
	readonly hasWrongContentType?: boolean;
	/** After so many events the stream breaks off in the given way; a body in one piece does so in its middle. */
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

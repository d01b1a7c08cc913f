import type { ToolOrigin } from './prompt.ts';

/** Content of a response, decided once; each wire dialect renders it. */
export interface ResponsePlan {
	/** Reasoning text; empty when there is none. */
	readonly thinking: string;
	readonly choices: readonly PlannedChoice[];
	readonly usage: Usage;
}

export interface PlannedChoice {
	readonly text: string;
	/** Pieces of the text, one for each event, when a test prescribes them; by default the wire dialect cuts the text. */
	readonly textPieces?: readonly string[];
	/** Reason why the model rejects the prompt, if it does; `text` is empty then. */
	readonly refusal: string;
	readonly calls: readonly PlannedCall[];
	/** Queries of web searches that the vendor runs before the text. */
	readonly searches: readonly string[];
	readonly stop: StopReason;
	readonly stopSequence: string | null;
}

export interface PlannedCall {
	/** Id without the dialect's prefix. */
	readonly id: string;
	readonly name: string;
	/** Arguments as JSON text or free text, truncated when the response was. */
	readonly input: string;
	readonly isFreeText: boolean;
	readonly origin?: ToolOrigin;
}

export type StopReason = 'end' | 'length' | 'stop_sequence' | 'calls' | 'refusal' | 'filter' | 'failed';

/** Token counts, disjoint except that `output` includes `reasoning` and `cacheWrite` includes `cacheWriteLong`. */
export interface Usage {
	readonly input: number;
	readonly cacheWrite: number;
	/** Tokens written to the cache for an hour. */
	readonly cacheWriteLong: number;
	readonly cacheRead: number;
	readonly output: number;
	readonly reasoning: number;
	readonly webSearches: number;
}

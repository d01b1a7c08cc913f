/** What is going to be said, decided once; each wire then renders it. */
export interface AnswerPlan {
	/** Empty when nothing was thought. */
	readonly thinking: string;
	readonly choices: readonly PlannedChoice[];
	readonly usage: Usage;
}

export interface PlannedChoice {
	readonly text: string;
	/** How the text is cut into events, when a test says so; else the wire decides. */
	readonly textPieces?: readonly string[];
	/** Why the model declines, when it does; then `text` is empty. */
	readonly refusal: string;
	readonly calls: readonly PlannedCall[];
	readonly stop: StopReason;
	readonly stopSequence: string | null;
}

export interface PlannedCall {
	/** Without the wire's prefix. */
	readonly id: string;
	readonly name: string;
	/** JSON text, or free text; cut short when the answer was. */
	readonly input: string;
	readonly isFreeText: boolean;
}

export type StopReason = 'end' | 'length' | 'stop_sequence' | 'calls' | 'refusal' | 'filter';

/** Disjoint counts, but for `reasoning`, which is part of `output`, and `cacheWriteLong`, part of `cacheWrite`. */
export interface Usage {
	readonly input: number;
	readonly cacheWrite: number;
	/** What was written to be kept for an hour. */
	readonly cacheWriteLong: number;
	readonly cacheRead: number;
	readonly output: number;
	readonly reasoning: number;
}

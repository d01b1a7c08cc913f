import type { Policy } from './guardrail.ts';

/** What a text as a whole is about, or how it speaks: it has no place in the text. */
export interface Judgement {
	readonly policy: Policy;
	readonly category: string;
	/** Whether it is sure enough to block; else it is only noted. */
	readonly isSure: boolean;
}

/** Judges texts that may come in pieces. */
export interface TextJudge {
	begin(): JudgedText;
}

export interface JudgedText {
	add(piece: string): void;
	/** Of what was added; `isOver`: there is no more. The same judgement may come again. */
	judge(isOver: boolean): readonly Judgement[];
}

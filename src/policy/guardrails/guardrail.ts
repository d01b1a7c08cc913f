/** What the policies share: rules, what they find, and what becomes of it. */

export const policies = ['content', 'pii', 'topics', 'words', 'patterns'] as const;
export type Policy = (typeof policies)[number];

export type Stage = 'input' | 'output';

/** What an operator wants done: not looked for; noted; refused; replaced in the text. */
export const ruleActions = ['none', 'log', 'block', 'mask'] as const;
export type RuleAction = (typeof ruleActions)[number];

/** Of what has no place in the text, and so cannot be masked. */
export const judgeActions = ['none', 'log', 'block'] as const satisfies readonly RuleAction[];

/** What is done: `NONE` also where guardrails only observe. */
export type AssessedAction = 'NONE' | 'MASK' | 'BLOCK';

/** A trip. The span stays inside the process, and the text in the text. */
export interface Finding {
	readonly policy: Policy;
	readonly category: string;
	readonly action: AssessedAction;
	/** UTF-16 offsets in the text that was screened. Of content and topics: all of it. */
	readonly start: number;
	readonly end: number;
}

/** A span that a detector found, by policy and category. */
export interface Span {
	readonly policy: Policy;
	readonly category: string;
	readonly start: number;
	readonly end: number;
}

/** Looks for something that has a place in a text. */
export interface SpanDetector {
	/**
	 * @param isOpen more text may follow.
	 * @param spans is added to, in no order, perhaps with repetitions.
	 * @returns from where on more text may make or change spans; the text's length when nowhere.
	 */
	find(text: string, isOpen: boolean, spans: Span[]): number;
}

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

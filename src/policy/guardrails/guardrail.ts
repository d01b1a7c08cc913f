/** Shared terms of the policies: rules, findings and actions. */

export const policies = ['content', 'pii', 'topics', 'words', 'patterns'] as const;
export type Policy = (typeof policies)[number];

export type Stage = 'input' | 'output';

/** Configured action: not evaluated, logged, blocked, or masked in the text. */
export const ruleActions = ['none', 'log', 'block', 'mask'] as const;
export type RuleAction = (typeof ruleActions)[number];

/** Actions for findings without a span, which cannot be masked. */
export const classifierActions = ['none', 'log', 'block'] as const satisfies readonly RuleAction[];

/** Assessed action; also `NONE` in monitor mode. */
export type AssessedAction = 'NONE' | 'MASK' | 'BLOCK';

/** Match of a rule. Its span and text never leave the process. */
export interface Finding {
	readonly policy: Policy;
	readonly category: string;
	readonly action: AssessedAction;
	/** Action that monitor mode did not take; undefined: none. */
	readonly monitored?: Exclude<AssessedAction, 'NONE'> | undefined;
	/** UTF-16 offsets in the evaluated text; all of it for content and topics. */
	readonly start: number;
	readonly end: number;
}

/** Span found by a detector, by policy and category. */
export interface Span {
	readonly policy: Policy;
	readonly category: string;
	readonly start: number;
	readonly end: number;
}

export interface SpanDetector {
	/**
	 * @param isOpen more text can follow.
	 * @param spans receives the spans, in no order, possibly with duplicates.
	 * @returns the offset from which more text can create or change spans; the text's length if none.
	 */
	find(text: string, isOpen: boolean, spans: Span[]): number;
}

/** Judgement of a text as a whole, such as its subject or tone, without a span. */
export interface Classification {
	readonly policy: Policy;
	readonly category: string;
	/** Tells whether the confidence is high enough to block; otherwise the judgement is only logged. */
	readonly isSure: boolean;
}

/** Judges a text that can arrive in pieces. */
export interface TextClassifier {
	begin(): ClassifiedText;
}

export interface ClassifiedText {
	add(piece: string): void;
	/** Judges the added text; `isOver` marks its end. The same judgement can repeat. */
	classify(isOver: boolean): readonly Classification[];
}

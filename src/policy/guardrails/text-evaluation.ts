import type { CooperativeTask } from '../../core/cooperative-task.ts';
import type { Classification, Finding } from './guardrail.ts';
import { applyMasks, type Mask, maskOf, orderMasks } from './masks.ts';
import { isExampleValue } from './pii/example-values.ts';
import { type LocatedSpan, type SegmentedText, segmentSteps } from './segments/joined-segments.ts';
import { type JoinedSink, type ReadingParts, readSegmentGroup } from './segments/segment-reading.ts';
import type { FoundSpan } from './text-scan.ts';
import type { Verdicts } from './verdicts.ts';

export interface EvaluatedText extends SegmentedText {
	/** Marks the text as JSON, whose escapes hide characters. */
	readonly isJson: boolean;
	/** Marks instructions and tool definitions, whose author decides what the model may do. */
	readonly isInstruction?: boolean;
}

export interface TextFinding extends Finding {
	readonly index: number;
}

/** Size of the pieces of longer texts. One takes some microseconds, or a few milliseconds if every word is suspicious. */
const pieceLength = 1024;
/** Minimum size of a step, which can have several small texts. */
const minStep = 256;
const shortText = 384;
/** Cost of a text without characters. */
const textCost = 64;
/** Maximum number of findings without an action; further ones are usually duplicates. */
const maxFindings = 1000;

/**
 * Evaluates texts in pieces, so that long ones do not block the event loop: each alone, then threads of several as one text. Splitting a
 * text into parts therefore does not change the result.
 */
export class TextEvaluation {
	readonly #texts: readonly EvaluatedText[];
	readonly #verdicts: Verdicts;
	readonly #parts: ReadingParts;
	readonly #findings: TextFinding[] = [];
	readonly #masks: (Mask[] | undefined)[] = [];
	readonly #known = new Set<string>();
	readonly #steps: Generator<number, void>;
	#isRead = false;
	#hasViolation = false;

	constructor(texts: readonly EvaluatedText[], verdicts: Verdicts, parts: ReadingParts) {
		this.#texts = texts;
		this.#verdicts = verdicts;
		this.#parts = parts;
		this.#steps = this.#read();
	}

	/**
	 * Reads about this many more characters.
	 * @returns true if all is read, or the text must be blocked.
	 */
	run(maxCharacters: number): boolean {
		for (let remaining = maxCharacters; remaining > 0 && !this.isDone; ) {
			const step = this.#steps.next();
			if (step.done === true) this.#isRead = true;
			else remaining -= step.value;
		}
		return this.isDone;
	}

	get isDone(): boolean {
		return this.#hasViolation || this.#isRead;
	}

	get isBlocked(): boolean {
		return this.#hasViolation;
	}

	get findings(): readonly TextFinding[] {
		return this.#findings;
	}

	/** Returns the masked text; undefined if it has no mask. */
	maskedText(index: number): string | undefined {
		const masks = this.#masks[index];
		return masks === undefined ? undefined : applyMasks(this.#texts[index]?.text ?? '', 0, orderMasks(masks));
	}

	/** Yields the number of characters read in each step. */
	*#read(): Generator<number, void> {
		const segmentGroups = yield* eachAs(pieceLength, segmentSteps(this.#texts));
		/** Undecided offsets by index, of texts that others follow. */
		const openEnds = new Map<number, number>();
		for (const indexes of segmentGroups) for (const index of indexes.slice(0, -1)) openEnds.set(index, 0);
		let unread = 0;
		for (const [index, text] of this.#texts.entries()) {
			unread += textCost + (yield* this.#readAlone(index, text, openEnds));
			if (unread < minStep) continue;
			yield unread;
			unread = 0;
		}
		for (const indexes of segmentGroups) {
			const isInstruction = indexes.every((index) => this.#texts[index]?.isInstruction === true);
			const sink: JoinedSink = {
				takeSpans: (spans, positions) => this.#take(spans, false, (start, end) => positions.positionsOf(start, end)),
				takeClassification: (classification, index, length) => this.#takeJoined(classification, isInstruction, index, length),
			};
			yield* readSegmentGroup({ texts: this.#texts, indexes, openEnds }, this.#parts, sink);
		}
	}

	/** @returns the number of characters read since the last step. */
	*#readAlone(
		index: number,
		{ text, isJson, isInstruction = false }: EvaluatedText,
		openEnds: Map<number, number>,
	): Generator<number, number> {
		const scan = this.#parts.createScan(isJson, '');
		const classified = this.#parts.beginClassifying();
		const positionsOf = (start: number, end: number): readonly LocatedSpan[] => [{ index, start, end }];
		let at = 0;
		for (; text.length - at > pieceLength; at += pieceLength) {
			const piece = text.slice(at, at + pieceLength);
			for (const one of classified) one.add(piece);
			this.#take(scan.push(piece), isJson, positionsOf);
			yield pieceLength + 1;
		}
		let rest = at === 0 ? text : text.slice(at);
		for (const one of classified) one.add(rest);
		// The last text is searched once, and a short text is searched completely together with its successor.
		if (text.length > shortText && openEnds.has(index)) {
			this.#take(scan.push(rest), isJson, positionsOf);
			openEnds.set(index, scan.decided);
			rest = '';
		}
		this.#take(scan.end(rest), isJson, positionsOf);
		for (const one of classified) {
			for (const classification of one.classify(true)) this.#takeClassification(classification, isInstruction, index, text.length);
		}
		return text.length - at + 1;
	}

	#take(spans: readonly FoundSpan[], isJson: boolean, positionsOf: (start: number, end: number) => readonly LocatedSpan[]): void {
		for (const span of spans) {
			const finding = this.#verdicts.ofSpan(span);
			if (finding === undefined) continue;
			const positions = positionsOf(span.start, span.end);
			if (this.#isExample(finding, positions)) continue;
			this.#addSpan(finding, positions);
			if (finding.action !== 'MASK') continue;
			for (const { index, start, end } of positions) {
				const masks = this.#masks[index] ?? [];
				this.#masks[index] = masks;
				masks.push(maskOf({ ...finding, start, end }, isJson && !span.isInString));
			}
		}
	}

	/** Adds a finding once, because a span found in a text alone is found again in the joined text. */
	#addSpan(finding: Finding, positions: readonly LocatedSpan[]): void {
		const [first] = positions;
		const last = positions.at(-1);
		if (first === undefined || last === undefined) return;
		const { policy, category } = finding;
		const key = `${first.index} ${first.start} ${last.index} ${last.end} ${policy} ${category}`;
		if (this.#known.has(key)) return;
		if (this.#known.size < maxFindings) this.#known.add(key);
		this.#add({ ...finding, ...first });
	}

	/** Tells whether a span of an instruction is a published example; a span of several texts is none. */
	#isExample({ policy, category }: Finding, [first, ...others]: readonly LocatedSpan[]): boolean {
		if (policy !== 'pii' || first === undefined || others.length > 0) return false;
		const text = this.#texts[first.index];
		return text?.isInstruction === true && isExampleValue(category, text.text.slice(first.start, first.end));
	}

	#takeClassification(classification: Classification, isInstruction: boolean, index: number, length: number): void {
		if (isInstruction && isAgainstInstructions(classification)) return;
		const finding = this.#verdicts.ofClassification(classification, length);
		if (finding !== undefined) this.#add({ ...finding, index });
	}

	/** Skips a judgement of the joined text that was already made of a text alone. */
	#takeJoined(classification: Classification, isInstruction: boolean, index: number, length: number): void {
		if (isInstruction && isAgainstInstructions(classification)) return;
		const finding = this.#verdicts.ofClassification(classification, length);
		if (finding !== undefined && !this.#findings.some((known) => isSame(known, finding))) this.#add({ ...finding, index });
	}

	#add(finding: TextFinding): void {
		if (finding.action === 'BLOCK') this.#hasViolation = true;
		if (this.#findings.length < maxFindings || finding.action !== 'NONE') this.#findings.push(finding);
	}
}

/** Selects attacks on instructions. The author of the instructions has no need to attack them, and their words are the same. */
function isAgainstInstructions({ policy, category }: Classification): boolean {
	return policy === 'content' && category === 'prompt_attack';
}

function isSame(one: Finding, other: Finding): boolean {
	return one.policy === other.policy && one.category === other.category && one.action === other.action && one.monitored === other.monitored;
}

function* eachAs<Result>(size: number, steps: CooperativeTask<Result>): Generator<number, Result> {
	for (;;) {
		const step = steps.next();
		if (step.done === true) return step.value;
		yield size;
	}
}

/** Edits that mask texts in requests, responses and events. */
import type { TextEvaluation } from '../../policy/guardrails/text-evaluation.ts';
import type { JsonObject } from '../../wire/json/parse-body.ts';
import type { Edit } from '../../wire/json/splice-body.ts';
import { textEdits } from '../../wire/text-edits.ts';
import type { TextView, ValuePath, ViewedText } from '../../wire/text-view.ts';

type Change = readonly [ViewedText, string];

/**
 * Replaces a text whose whole content was masked as part of a longer match. The label is in the text before it, and providers reject empty
 * texts.
 */
const goneLabel = '[MASKED]';

/** Lists the texts to replace, with their replacement. */
export function maskedTexts({ texts }: TextView, evaluation: TextEvaluation): readonly Change[] {
	return texts.flatMap((text, index) => {
		const masked = evaluation.maskedText(index);
		return masked === undefined ? [] : [[text, masked === '' && !text.isJson ? goneLabel : masked] as const];
	});
}

/** Returns the edits that mask a request, a response or one of its events. */
export function maskEdits(bytes: Buffer, members: JsonObject | undefined, changes: readonly Change[]): readonly Edit[] {
	const cleared = clearedCopies(members, changes);
	const others = changes.filter(([{ path }]) => !path.some((name, depth) => name === logprobs && cleared.has(nameOf(path, depth))));
	return textEdits(bytes, [...others, ...cleared.values()]);
}

const logprobs = 'logprobs';

/** Clears the log probabilities next to masked texts, because their tokens repeat the text. */
function clearedCopies(members: JsonObject | undefined, changes: readonly Change[]): ReadonlyMap<string, Change> {
	const cleared = new Map<string, Change>();
	for (const [{ path }] of changes) {
		let value: unknown = members;
		for (const [depth, name] of path.entries()) {
			if (!isContainer(value)) break;
			const copies = value[logprobs];
			if (isContainer(copies)) cleared.set(nameOf(path, depth), cleared.get(nameOf(path, depth)) ?? clearedCopy(path, depth, copies));
			value = value[name];
		}
	}
	return cleared;
}

/** Names the log probabilities next to the value at this depth of the path. */
function nameOf(path: ValuePath, depth: number): string {
	return path.slice(0, depth).join('.');
}

function clearedCopy(path: ValuePath, depth: number, copies: object): Change {
	const viewed = {
		text: '',
		isJson: true,
		isValue: true,
		role: 'assistant',
		part: 'other',
		isInstruction: false,
		segmentGroup: '',
	} as const;
	return [{ ...viewed, path: [...path.slice(0, depth), logprobs] }, Array.isArray(copies) ? '[]' : 'null'];
}

function isContainer(value: unknown): value is Readonly<Record<string | number, unknown>> {
	return typeof value === 'object' && value !== null;
}

import type { Screening } from '../../../policy/guardrails/screening.ts';
import { isJsonObject, type JsonObject } from '../../../wire/json/parse-body.ts';
import type { Edit } from '../../../wire/json/splice-body.ts';
import { textEdits } from '../../../wire/text-edits.ts';
import type { TextView, ViewedText } from '../../../wire/text-view.ts';

type Change = readonly [ViewedText, string];

/** In place of a text in the middle of what was masked, whose label stands in the text before: providers refuse empty ones. */
const goneLabel = '[MASKED]';

/** What is to stand in place of which text. */
export function maskedTexts({ texts }: TextView, screening: Screening): readonly Change[] {
	return texts.flatMap((text, index) => {
		const masked = screening.maskedText(index);
		return masked === undefined ? [] : [[text, masked === '' && !text.isJson ? goneLabel : masked] as const];
	});
}

/** What to change in an answer or an event of one where something is masked. */
export function maskEdits(bytes: Buffer, told: JsonObject | undefined, changes: readonly Change[]): readonly Edit[] {
	return textEdits(bytes, [...changes.filter(([{ path }]) => path[2] !== 'logprobs'), ...copiesIn(told?.choices)]);
}

/** What a chat completion tells of each of its pieces of text would show what was masked. */
function copiesIn(choices: unknown): readonly Change[] {
	if (!Array.isArray(choices)) return [];
	return choices.flatMap((choice: unknown, index) => {
		if (!isJsonObject(choice) || !isJsonObject(choice.logprobs)) return [];
		const path = ['choices', index, 'logprobs'];
		return [[{ text: '', isJson: true, isValue: true, role: 'assistant', part: 'other', path, thread: '' }, 'null'] as const];
	});
}

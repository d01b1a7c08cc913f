import type { Screening } from '../../../policy/guardrails/screening.ts';
import type { TextView, ViewedText } from '../../../wire/text-view.ts';

/** What is to stand in place of which text. */
export function maskedTexts({ texts }: TextView, screening: Screening): readonly (readonly [ViewedText, string])[] {
	return texts.flatMap((text, index) => {
		const masked = screening.maskedText(index);
		return masked === undefined ? [] : [[text, masked] as const];
	});
}

/** Scores a text as it is written and, where that differs, as it is shown: a tag inside a word hides the word from nobody who reads. */
import { shownTexts } from '../folding/shown-text.ts';
import { type ContentCategory, type ContentScores, contentCategories } from './content-category.ts';
import type { ContentReading, ContentScorer } from './content-scorer.ts';

/** So much of what came before is read again: a disguise may be cut by the end of a piece. */
const contextLength = 1024;
/** Without one of these no text is shown otherwise than it is written. */
const mayDiffer = /<[a-z!?/]|[\u202d\u202e]|&(?:amp;|lt|#)|%|data:|\\[ux]/i;

export type ShownReading = Pick<ContentReading, 'add' | 'scores' | 'end'>;

export function beginShownReading(scorer: ContentScorer): ShownReading {
	const reading = scorer.begin();
	const highest: Record<ContentCategory, number> = { hate: 0, violence: 0, sexual: 0, misconduct: 0, prompt_attack: 0 };
	let recent = '';
	const withShown = (written: ContentScores): ContentScores => {
		const scores = { ...written };
		for (const category of contentCategories) scores[category] = Math.max(written[category], highest[category]);
		return scores;
	};
	return {
		add(piece) {
			reading.add(piece);
			const text = recent + piece;
			recent = text.slice(-contextLength);
			if (!mayDiffer.test(text)) return;
			for (const shown of shownTexts(text, false)) {
				const scores = scorer.score(shown.text);
				for (const category of contentCategories) highest[category] = Math.max(highest[category], scores[category]);
			}
		},
		scores: () => withShown(reading.scores()),
		end: () => withShown(reading.end()),
	};
}

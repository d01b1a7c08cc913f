import type { SpanDetector } from '../guardrail.ts';
import { WordList, type WordMatch } from './word-list.ts';

/** Pauses now and then while it is built. */
export function* buildWordDetector(entries: readonly string[]): Generator<void, SpanDetector> {
	const list = yield* WordList.build(entries);
	return {
		find(text, isOpen, spans) {
			const matches: WordMatch[] = [];
			const live = list.find(text, isOpen, matches);
			for (const { start, end } of matches) spans.push({ policy: 'words', category: 'listed', start, end });
			return live;
		},
	};
}

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ClassifiedText } from '../guardrail.ts';
import { createTopicClassifier, wordsOf } from './topic-classifier.ts';

const classify = createTopicClassifier([
	{ name: 'gambling', description: '', examples: ['free roulette wheel tricks'], keywords: ['sure bet'] },
	{ name: 'numbers', description: '', examples: [], keywords: ['42', 'x'] },
	{ name: 'others', description: '', examples: ['ставка верная'], keywords: ['ядро', 'élection', 'łódź', 'σοφός', 'σοφος'] },
	{ name: 'letters', description: '', examples: [], keywords: ['y'.repeat(1100)] },
]);
const ordinary = 'It was a long day, and nobody had slept. ';

function topicsIn(...pieces: readonly string[]): readonly string[] {
	const reading: ClassifiedText = classify.begin();
	for (const piece of pieces) reading.add(piece);
	return reading
		.classify(true)
		.map(({ category }) => category)
		.toSorted();
}

describe('the topic judge', () => {
	it('finds keywords and most words of an example, in any case, wherever they stand', () => {
		for (const length of [0, 1, 16, 1000, 1020, 1024, 3000]) {
			const before = ordinary.repeat(80).slice(0, length);
			expect(topicsIn(`${before} a SURE Bet`)).toEqual(['gambling']);
			expect(topicsIn(`${before} Free wheels, tricky roulette`)).toEqual(['gambling']);
			expect(topicsIn(`${before} room 42.`, ordinary)).toEqual(['numbers']);
			expect(topicsIn(`${before} ${'y'.repeat(1100)} ${ordinary}`)).toEqual(['letters']);
			expect(topicsIn(before, ordinary)).toEqual([]);
		}
	});

	it('reads usual characters as the general rules do', () => {
		const bit = fc.oneof(
			fc.constantFrom('free', 'FREE', 'roulette', 'wheels', 'tricks', 'sure', 'bet', '42', 'x', 'fr', 'ee', 'y'.repeat(1100), ordinary),
			fc.constantFrom(
				'ядро',
				'ЯДРО',
				'верная',
				'ставка',
				'élections',
				'ÉLECTION',
				'łódź',
				'σοφος',
				'ΣΟΦΟΣ',
				'２',
				'４2',
				'ﬁ',
				'e\u0301lection',
			),
			fc.constantFrom(
				' ',
				' ',
				' ',
				', ',
				'\n',
				'-',
				"'",
				'@',
				'`',
				'[',
				'_',
				'\u007f',
				'’',
				'—',
				'…',
				'\u00a0',
				'×',
				'´',
				'\u0301',
				'\u200b',
			),
		);
		const text = fc.array(bit, { maxLength: 80, size: 'max' }).map((bits) => bits.join(''));
		fc.assert(
			fc.property(text, (some) => {
				expect(topicsIn(`${some} `)).toEqual(topicsIn(`${wordsOf(some).join(' ')} `));
			}),
			{ numRuns: 1000 },
		);
	});
});

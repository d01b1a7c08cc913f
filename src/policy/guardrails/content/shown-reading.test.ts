import { expect, it } from 'vitest';
import { readContentWeights } from '../../../../content-filter/read-weights.ts';
import { createContentScorer } from './content-scorer.ts';
import { beginShownReading } from './shown-reading.ts';

const scorer = createContentScorer(readContentWeights());
const harmful = 'I will kill you and your family';

const disguises: readonly (readonly [name: string, disguise: (text: string) => string])[] = [
	['tags inside of words', (text) => text.replaceAll(/(\w)(\w)/g, '$1<b x="a>b">$2</b>')],
	['comments inside of words', (text) => text.replaceAll(/(\w)(\w)/g, '$1<!-- -->$2')],
	['escaped tags', (text) => text.replaceAll(/(\w)(\w)/g, '$1&lt;i&gt;$2')],
	['an override', (text) => `\u202e${Array.from(text).toReversed().join('')}\u202c`],
	['an SVG', (text) => `data:image/svg+xml;base64,${Buffer.from(`<svg><text>${text}</text></svg>`).toString('base64')}`],
];

it.each(disguises)('%s hide nothing from the content filter, whole or in pieces', (_name, disguise) => {
	const text = disguise(harmful);
	for (const size of [text.length, 7, 1]) {
		const reading = beginShownReading(scorer);
		for (let at = 0; at < text.length; at += size) reading.add(text.slice(at, at + size));
		expect(reading.end().violence).toBeGreaterThanOrEqual(0.8);
	}
});

it('changes nothing of what is shown as it is written', () => {
	for (const text of [harmful, 'How do I kill a Python process?', '5 < 6 && 7 > 3']) {
		const reading = beginShownReading(scorer);
		reading.add(text);
		expect(reading.end()).toEqual(scorer.score(text));
	}
});

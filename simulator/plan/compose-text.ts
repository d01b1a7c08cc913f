import type { SeededRandom } from '../seeded-random.ts';
import { unitsPerToken } from '../token-count.ts';

const words = [
	'about',
	'after',
	'again',
	'along',
	'bright',
	'calm',
	'clear',
	'cloud',
	'coast',
	'early',
	'evening',
	'field',
	'garden',
	'gentle',
	'green',
	'harbor',
	'island',
	'late',
	'light',
	'morning',
	'mountain',
	'near',
	'north',
	'ocean',
	'over',
	'paper',
	'quiet',
	'river',
	'road',
	'season',
	'silver',
	'slow',
	'soft',
	'south',
	'stone',
	'summer',
	'table',
	'toward',
	'under',
	'valley',
	'warm',
	'water',
	'west',
	'wind',
	'winter',
] as const;

/** Composes harmless words, exactly `tokens` tokens of them. */
export function composeText(random: SeededRandom, tokens: number): string {
	const length = tokens * unitsPerToken;
	const parts: string[] = [];
	let written = 0;
	while (written < length) {
		const word = random.pick<string>(words, 'calm');
		const part = written === 0 ? word.charAt(0).toUpperCase() + word.slice(1) : ` ${word}`;
		parts.push(part);
		written += part.length;
	}
	const text = parts.join('').slice(0, length);
	return length === 0 ? '' : `${text.slice(0, -1)}.`;
}

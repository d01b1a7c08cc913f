import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type PlainText, plainDigits, unescapedDigits } from './plain-digits.ts';

const escapes: readonly (readonly [written: string, character: string])[] = [
	['%34', '4'],
	['&#52;', '4'],
	['\\u0664', '٤'],
	['&nbsp;', '\u00a0'],
	['\\x41', 'A'],
	['&#x1F4B3;', '💳'],
	['&zwj;', '\u200d'],
];
const common = Array.from('4aé٤４—２\u00a0\u200b\ufe0f\u0301жﬁ＠。中');
const character = fc.constantFrom(...common, '💳', '𝟒', '\u{e0041}', '\ud83d', '\udcb3', '\uffff');
const plain = character.map((written) => [written, written] as const);

/** Reads each character separately, with its original position. */
function readSeparately(parts: readonly (readonly [written: string, character: string])[]): { text: string; positions: readonly number[] } {
	let text = '';
	let at = 0;
	const positions: number[] = [];
	for (const [written, read] of parts) {
		const alone = plainDigits(read).text;
		text += alone;
		for (let index = 0; index < alone.length; index++) positions.push(at);
		at += written.length;
	}
	return { text, positions: [...positions, at] };
}

function positionsIn({ text, positions }: PlainText): readonly number[] {
	return positions === undefined ? [...Array(text.length + 1).keys()] : [...positions.slice(0, text.length + 1)];
}

/** Tells whether two surrogate halves meet, which form one character. */
function hasHalves(parts: readonly (readonly [string, string])[]): boolean {
	return parts.some(([written], index) => written === '\ud83d' && parts[index + 1]?.[0] === '\udcb3');
}

test('a text reads as its characters do one by one, wherever they stand', () => {
	fc.assert(
		fc.property(fc.array(plain), (parts) => {
			fc.pre(!hasHalves(parts));
			const read = plainDigits(parts.map(([written]) => written).join(''));
			expect({ text: read.text, positions: positionsIn(read) }).toEqual(readSeparately(parts));
		}),
	);
});

test('so it does with escapes among them', () => {
	fc.assert(
		fc.property(fc.array(fc.oneof(plain, fc.constantFrom(...escapes))), fc.constantFrom(...escapes), (parts, last) => {
			fc.pre(!hasHalves(parts));
			const read = unescapedDigits([...parts, last].map(([written]) => written).join(''));
			expect(read && { text: read.text, positions: positionsIn(read) }).toEqual(readSeparately([...parts, last]));
		}),
	);
});

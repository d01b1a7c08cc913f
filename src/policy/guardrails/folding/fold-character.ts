/** Folds a character to the letters that a reader recognises, a gap between letters, or nothing. */
import { BoundedMap } from '../../../core/bounded-map.ts';
import readAs from './confusables.json' with { type: 'json' };

/** Invisible characters: zero-width characters, tags, variation selectors, combining marks. */
export const unseen = '';
/** White space, punctuation, pictures. */
export const gap = ' ';

/**
 * Characters that resemble a Latin letter, with that letter. Selected by hand from keyboards, text generators and other scripts. Characters
 * that compatibility normalisation converts (full-width, mathematical, circled letters) are not listed.
 */
const confusables: ReadonlyMap<string, string> = new Map(
	Object.entries(readAs).flatMap(([letters, characters]) => Array.from(characters, (character) => [character, letters] as const)),
);

const ignorable = /^[\p{Default_Ignorable_Code_Point}\p{Mark}\p{Emoji_Modifier}]$/u;
const letterOrDigit = /[\p{L}\p{N}]/u;
const decimalDigit = /^\p{Nd}$/u;
const marks = /[\p{Mark}\p{Default_Ignorable_Code_Point}]/gu;
const hangulFiller = /[\u115f\u1160\u3164\uffa0]/;

/** Cache of characters of the basic plane. */
const cached: (string | undefined)[] = [];
/** Cache of recent other characters. */
const cachedOthers = new BoundedMap<number, string>(4096);

/** @returns lower-case letters and digits, usually one; `gap`; or `unseen`. */
export function foldCharacter(codePoint: number): string {
	if (codePoint > 0xffff) return foldOther(codePoint);
	let folded = cached[codePoint];
	if (folded === undefined) {
		folded = fold(codePoint);
		cached[codePoint] = folded;
	}
	return folded;
}

function foldOther(codePoint: number): string {
	const known = cachedOthers.get(codePoint);
	if (known !== undefined) return known;
	const folded = fold(codePoint);
	cachedOthers.set(codePoint, folded);
	return folded;
}

function fold(codePoint: number): string {
	const character = String.fromCodePoint(codePoint);
	const direct = confusables.get(character) ?? framedLetter(codePoint);
	if (direct !== undefined) return direct;
	if (ignorable.test(character) || hangulFiller.test(character)) return unseen;
	let folded = '';
	for (const part of character.normalize('NFKD').replaceAll(marks, '').toLowerCase()) {
		const letter = confusables.get(part);
		if (letter !== undefined) folded += letter;
		else if (decimalDigit.test(part)) folded += digitOf(part.codePointAt(0) ?? 0);
		else if (letterOrDigit.test(part)) folded += part;
	}
	return folded === '' ? gap : folded;
}

/** Returns the digit of any script, because decimal digits are ten consecutive characters from zero to nine. */
function digitOf(codePoint: number): string {
	let value = 0;
	while (value < 10 && decimalDigit.test(String.fromCodePoint(codePoint - value - 1))) value++;
	return String(value % 10);
}

/** Returns the letter of squares, circles and flags that compatibility normalisation does not convert. */
function framedLetter(codePoint: number): string | undefined {
	for (const first of [0x1f150, 0x1f170, 0x1f1e6, 0x1f110, 0x249c]) {
		if (codePoint >= first && codePoint < first + 26) return String.fromCharCode(0x61 + codePoint - first);
	}
	return undefined;
}

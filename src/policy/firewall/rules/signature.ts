import type { Forms } from './canonical-text.ts';
import { signsOf, splitByNeeds } from './text-signs.ts';

/** Pattern, or a detector that reads a text's tokens. `source` names it in messages. */
export interface TextTest {
	readonly source: string;
	/** Signs of which a match needs at least one; absent if any text can match. */
	readonly anySign?: string;
	test(text: string): boolean;
}

/**
 * Feature of attacks that harmless requests do not have, searched in one form of a text. Time must be linear in the text's length: no
 * unbounded repetition unless the text after it cannot match the repeated part. A test checks each signature.
 */
export interface Signature {
	readonly form: keyof Forms;
	readonly pattern: TextTest;
	/** Bit mask of the signs that every match has (`text-signs.ts`). */
	readonly needs: number;
	/** Bit mask of signs of which a match has at least one; 0 for no condition. */
	readonly needsAny: number;
}

export const plain = signaturesOf('plain');
export const packed = signaturesOf('packed');
export const uncommented = signaturesOf('uncommented');
export const unquoted = signaturesOf('unquoted');
export const slashed = signaturesOf('slashed');
export const framed = signaturesOf('framed');
export const raw = signaturesOf('raw');

function signaturesOf(form: keyof Forms): (...patterns: readonly TextTest[]) => Signature[] {
	return (...patterns) =>
		patterns.flatMap((pattern): Signature[] => {
			// The raw text has signs that its decoded forms lack.
			if (form === 'raw') return [{ form, pattern, needs: 0, needsAny: 0 }];
			if (pattern instanceof RegExp) return splitByNeeds(pattern).map((part) => ({ form, ...part, needsAny: 0 }));
			return [{ form, pattern, needs: 0, needsAny: signsOf(pattern.anySign ?? '') }];
		});
}

/** Returns a pattern for any of these literal texts. */
export function anyOf(...texts: readonly string[]): RegExp {
	return new RegExp(texts.map((text) => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')).join('|'));
}

/** Minimum length of a matched end of a name; shorter ends are words too. */
const minEndLength = 7;

/**
 * Matches a call of one of these names, with the bracket directly after it or after a space, also with a prefix before the name.
 * @param wordNames names that are words too, and need the bracket directly after them.
 */
export function callOf(names: ReadonlySet<string>, source: string, wordNames: ReadonlySet<string> = new Set()): TextTest {
	const isNamed = (name: string): boolean => {
		if (names.has(name)) return true;
		for (let at = 1; at <= name.length - minEndLength; at++) if (names.has(name.slice(at))) return true;
		return false;
	};
	return {
		source,
		anySign: '(',
		test: (text) => {
			if (!text.includes('(')) return false;
			// A method of an object is another function.
			for (const [, name = '', space] of text.matchAll(/(?<!\w|[\w)]\.|\bawait )([a-z_]\w{1,40})([ =]{0,2})\(/g)) {
				if (isNamed(name) || (space === '' && wordNames.has(name))) return true;
			}
			return false;
		},
	};
}

/** @param lines words separated by spaces, as in the lists next to this file. */
export function wordsOf(lines: readonly string[]): ReadonlySet<string> {
	return new Set(lines.flatMap((line) => line.split(' ')));
}

import type { Forms } from './canonical-text.ts';
import { signsOf, splitByNeeds } from './text-signs.ts';

/** A pattern, or a detector that reads a text's tokens. `source` names it in messages. */
export interface TextTest {
	readonly source: string;
	/** Signs one of which a text must have to match; any text may where there are none. */
	readonly anySign?: string;
	test(text: string): boolean;
}

/**
 * One thing that attacks have and harmless requests do not, searched in one form of a text. Time must grow with the text's length
 * alone: no repetition without a bound, unless what follows cannot match what is repeated. A test holds each of them to that.
 */
export interface Signature {
	readonly form: keyof Forms;
	readonly pattern: TextTest;
	/** Signs without which a text cannot match, as bits (`text-signs.ts`). */
	readonly needs: number;
	/** Signs one of which a text must have, as bits; 0 where it need not. */
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
			// What was received has signs that its readings have not.
			if (form === 'raw') return [{ form, pattern, needs: 0, needsAny: 0 }];
			if (pattern instanceof RegExp) return splitByNeeds(pattern).map((part) => ({ form, ...part, needsAny: 0 }));
			return [{ form, pattern, needs: 0, needsAny: signsOf(pattern.anySign ?? '') }];
		});
}

/** Any of these texts, taken literally. */
export function anyOf(...texts: readonly string[]): RegExp {
	return new RegExp(texts.map((text) => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')).join('|'));
}

/** Shorter ends of names are words too. */
const leastEndLength = 7;

/**
 * A call by one of these names, the bracket directly behind or after a space; also where something stands before the name.
 * @param wordNames names that are words too, and have the bracket directly behind them.
 */
export function callOf(names: ReadonlySet<string>, source: string, wordNames: ReadonlySet<string> = new Set()): TextTest {
	const isNamed = (name: string): boolean => {
		if (names.has(name)) return true;
		for (let at = 1; at <= name.length - leastEndLength; at++) if (names.has(name.slice(at))) return true;
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

/** @param lines words with spaces between them, as the lists beside this file keep them. */
export function wordsOf(lines: readonly string[]): ReadonlySet<string> {
	return new Set(lines.flatMap((line) => line.split(' ')));
}

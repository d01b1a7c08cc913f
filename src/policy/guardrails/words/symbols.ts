/** Symbols for the word search: letters only, with similar ones merged. There are 32, so that a node's children fit one bit mask. */

/** Symbol of `l`, `1`, `!`, `|` and `i`; a later comparison decides which of them the entry means. */
const symbolOfI = 8;
const symbolOfDigit = [14, 8, 25, 4, 0, 18, 6, 19, 1, 6];
/**
 * First symbol for other letters. They have four symbols each, of which only the first is in this range, so that none is mistaken for the
 * middle of another.
 */
const firstOfOther = 26;
/** Maximum number of non-letters between two letters of a word. */
export const maxGapLength = 8;

/** Value that ends a run of letters, in place of a symbol. */
export const breaks = 254;
/** Value for characters that need the slow path. */
export const others = 255;
/** Start of the kinds in `kindsOfAscii` that apply if signs are letters; the others apply if they are not. */
export const signed = 0;
export const unsigned = 128;
/** Kinds by ASCII character, twice: a symbol, `breaks` or `others`. */
export const kindsOfAscii = new Uint8Array(256).fill(breaks);
for (const from of [signed, unsigned]) {
	for (let code = 0; code < 26; code++) {
		for (const first of [0x41, 0x61]) kindsOfAscii[from + first + code] = code === 11 ? symbolOfI : code;
	}
	for (const [digit, symbol] of symbolOfDigit.entries()) kindsOfAscii[from + 0x30 + digit] = symbol;
	for (const beginningOfEscape of '&\\%') kindsOfAscii[from + beginningOfEscape.charCodeAt(0)] = others;
}
for (const sign of '@$!|+') kindsOfAscii[signed + sign.charCodeAt(0)] = others;

export interface Reading {
	/** Reads signs such as `@` as letters; otherwise they are gaps between letters. */
	readonly signsAreLetters: boolean;
	/** Number of letters that three or more equal ones in a row are read as; 0: unchanged. */
	readonly elongatedAs: 0 | 1 | 2;
}

/** Scripts without spaces between words. */
export const writtenTogether = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;

/** Cache for letters of the basic plane: 1 for scripts with spaces, 2 for scripts without. */
const cachedPairs = new Uint8Array(0x10000);

export function isWrittenTogether(letter: string, code: number): boolean {
	const known = cachedPairs[code] ?? 0;
	if (known !== 0) return known === 2;
	const isTogether = writtenTogether.test(letter);
	cachedPairs[code] = isTogether ? 2 : 1;
	return isTogether;
}

/** @returns the symbol of a folded letter that has one; otherwise `others`. */
export function symbolOf(codePoint: number): number {
	const kind = codePoint < 128 ? (kindsOfAscii[signed + codePoint] as number) : others;
	return kind === breaks ? others : kind;
}

/** Number of symbols of a letter without a symbol of its own. */
export const symbolsOfOther = 4;

/** @returns one of the symbols of a letter without a symbol of its own. */
export function symbolOfOther(codePoint: number, index: number): number {
	return index === 0 ? firstOfOther + ((codePoint >> 15) % 6) : (codePoint >> (15 - 5 * index)) & 31;
}

/** @returns a character for each symbol of folded letters. */
export function symbolsOf(letters: readonly string[]): string {
	let symbols = '';
	for (const letter of letters) {
		const code = letter.codePointAt(0) ?? 0;
		const symbol = symbolOf(code);
		if (symbol !== others) symbols += String.fromCharCode(symbol);
		else for (let index = 0; index < symbolsOfOther; index++) symbols += String.fromCharCode(symbolOfOther(code, index));
	}
	return symbols;
}

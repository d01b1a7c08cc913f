/**
 * The symbols that words are looked for in: letters only, those that are mistaken for each other made one. A node's children fit one
 * word of bits, for there are 32.
 */

/** `l`, `1`, `!` and `|` are all read for `i`; which of them an entry means is compared afterwards. */
const symbolOfI = 8;
const symbolOfDigit = [14, 8, 25, 4, 0, 18, 6, 19, 1, 6];
/** Other letters are four symbols each, of which the first is from here on, so that none is taken for the middle of another. */
const firstOfOther = 26;
/** So much that is no letter, between two letters, belongs to no word. */
export const longestGap = 8;

/** What ends a run of letters, in place of a symbol. */
export const breaks = 254;
/** What has to be looked at more closely. */
export const others = 255;
/** Where in `kindsOfAscii` those begin that hold where signs are letters; where they are none. */
export const signed = 0;
export const unsigned = 128;
/** By ASCII character, twice: its symbol, `breaks` or `others`. */
export const kindsOfAscii = new Uint8Array(256).fill(breaks);
for (const from of [signed, unsigned]) {
	for (let code = 0; code < 26; code++) {
		for (const first of [0x41, 0x61]) kindsOfAscii[from + first + code] = code === 11 ? symbolOfI : code;
	}
	for (const [digit, symbol] of symbolOfDigit.entries()) kindsOfAscii[from + 0x30 + digit] = symbol;
	for (const beginningOfEscape of '&\\%') kindsOfAscii[from + beginningOfEscape.charCodeAt(0)] = others;
}
for (const sign of '@$!|+') kindsOfAscii[signed + sign.charCodeAt(0)] = others;

/** How a text is read. */
export interface Reading {
	/** Whether signs such as `@` are letters; else they stand between letters. */
	readonly signsAreLetters: boolean;
	/** As how many a letter is read that stands three times in a row or more; 0: as it stands. */
	readonly elongatedAs: 0 | 1 | 2;
}

/** Scripts that write no spaces between words. */
export const writtenTogether = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;

/** Of letters of the basic plane, asked once: 1 for those of other scripts, 2 for those of such a script. */
const rememberedTogether = new Uint8Array(0x10000);

/** @param code of the letter. */
export function isWrittenTogether(letter: string, code: number): boolean {
	const known = rememberedTogether[code] ?? 0;
	if (known !== 0) return known === 2;
	const isTogether = writtenTogether.test(letter);
	rememberedTogether[code] = isTogether ? 2 : 1;
	return isTogether;
}

/** @returns the symbol of a folded letter that has one; else `others`. */
export function symbolOf(codePoint: number): number {
	const kind = codePoint < 128 ? (kindsOfAscii[signed + codePoint] as number) : others;
	return kind === breaks ? others : kind;
}

/** So many symbols has a letter that has none of its own. */
export const symbolsOfOther = 4;

/** @returns one of the symbols of a letter that has none of its own. */
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

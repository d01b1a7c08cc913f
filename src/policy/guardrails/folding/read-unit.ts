/** Reads a text as a reader would: unit by unit, escapes resolved, each with the letters it stands for. */
import { foldCharacter, gap, unseen } from './fold-character.ts';

/** One unit of text, from `start` to `end`. One object is read into again and again. */
export class Unit {
	/** Lower-case letters and digits; `gap`; or `unseen`. */
	letters = gap;
	end = 0;
	/** A sign that is read as a letter but is none: `@`, `$`. A word may as well end before it. */
	isSign = false;
	isSpace = false;
	isApostrophe = false;
}

/** `l` in place of `i` and the like is decided where words are compared. */
const signLetters: Readonly<Record<string, string>> = { '@': 'a', $: 's', '!': 'i', '|': 'i', '+': 't' };

const isLetter = /^[\p{L}\p{N}]/u;
const isWhitespace = /^\s$/u;
/** Also what keyboards offer in place of one: quotation marks, accents, a prime. */
const apostrophe = /^['`´‘’‛′＇]$/u;
/** Longest first character reference, escape or percent-encoding that is looked for. */
const longestEscape = 26;
const escapes =
	/(?:&(?:amp;){0,3}(?:#(\d{1,7});|#[xX]([0-9a-fA-F]{1,6});|(nbsp|shy|amp|zwnj|zwj|commat|period);)|\\u([0-9a-fA-F]{4})|\\x([0-9a-fA-F]{2}))/y;
const anyEscape = new RegExp(`${escapes.source}|%[0-7][0-9a-fA-F]`);
const beginningOfEscape =
	/(?:&(?:amp;){0,3}(?:#\d{0,7}|#[xX][0-9a-fA-F]{0,6}|[a-z]{0,6})|\\|\\u[0-9a-fA-F]{0,3}|\\x[0-9a-fA-F]?|%(?:25){0,4}[0-7]?)$/;
const named: Readonly<Record<string, number>> = { nbsp: 0xa0, shy: 0xad, amp: 0x26, zwnj: 0x200c, zwj: 0x200d, commat: 0x40, period: 0x2e };

/** Fills `unit` with what stands at `at`. */
export function readUnit(text: string, at: number, unit: Unit): void {
	const code = text.charCodeAt(at);
	const codePoint = code >= 0xd800 && code <= 0xdbff ? (text.codePointAt(at) ?? code) : code;
	unit.end = at + (codePoint > 0xffff ? 2 : 1);
	if (code === 0x26 || code === 0x5c || code === 0x25) {
		const escape = escapeAt(text, at);
		if (escape !== undefined) {
			unit.end = escape.end;
			fill(unit, escape.codePoint);
			return;
		}
	}
	fill(unit, codePoint);
}

export function holdsEscape(text: string): boolean {
	return anyEscape.test(text);
}

/** @returns what the character reference, escape or percent-encoding stands for that begins at `at`. */
export function escapeAt(text: string, at: number): { readonly codePoint: number; readonly end: number } | undefined {
	// Most are these.
	if (text.charCodeAt(at) === percentSign) return percentEscapeAt(text, at);
	escapes.lastIndex = at;
	const found = escapes.exec(text);
	return found === null ? undefined : { codePoint: escapedCodePoint(found), end: escapes.lastIndex };
}

const percentSign = 0x25;
const hexadecimalDigits = new Int8Array(128).fill(-1);
for (let value = 0; value < 16; value++) {
	for (const digit of [value.toString(16), value.toString(16).toUpperCase()]) hexadecimalDigits[digit.charCodeAt(0)] = value;
}

/** A percent sign may itself be encoded, and so on: more than so often nobody does. */
const mostEncodings = 4;

function percentEscapeAt(text: string, at: number): { readonly codePoint: number; readonly end: number } | undefined {
	let escape = encodedByte(text, at);
	for (let times = 0; times < mostEncodings && escape?.codePoint === percentSign; times++) {
		const inner = encodedByte(text, escape.end - 1);
		if (inner === undefined) break;
		escape = inner;
	}
	return escape;
}

/** @param at of the percent sign, or of what stands for it: two digits follow. */
function encodedByte(text: string, at: number): { readonly codePoint: number; readonly end: number } | undefined {
	const high = hexadecimalDigits[text.charCodeAt(at + 1)] ?? -1;
	const low = hexadecimalDigits[text.charCodeAt(at + 2)] ?? -1;
	return high < 0 || high > 7 || low < 0 ? undefined : { codePoint: high * 16 + low, end: at + 3 };
}

function escapedCodePoint([, decimal, hexadecimal, name, unicode, byte]: RegExpExecArray): number {
	if (name !== undefined) return named[name] ?? 0x20;
	const value = decimal === undefined ? Number.parseInt(hexadecimal ?? unicode ?? byte ?? '20', 16) : Number(decimal);
	return value <= 0x10ffff ? value : 0x20;
}

/** What ASCII characters are, read once. */
const ascii: readonly Unit[] = Array.from({ length: 128 }, (_, code) => {
	const unit = new Unit();
	read(unit, code);
	return unit;
});

function fill(unit: Unit, codePoint: number): void {
	const known = ascii[codePoint];
	if (known === undefined) {
		read(unit, codePoint);
		return;
	}
	unit.letters = known.letters;
	unit.isSign = known.isSign;
	unit.isSpace = known.isSpace;
	unit.isApostrophe = known.isApostrophe;
}

function read(unit: Unit, codePoint: number): void {
	const character = String.fromCodePoint(codePoint);
	const sign = signLetters[character];
	unit.letters = sign ?? foldCharacter(codePoint);
	unit.isSign = sign !== undefined || (unit.letters !== gap && unit.letters !== unseen && !isLetter.test(character));
	unit.isSpace = unit.letters === gap && isWhitespace.test(character);
	unit.isApostrophe = apostrophe.test(character);
}

/** @returns where the text ends that nothing can change any more: before half an escape or half a character. */
export function settledEnd(text: string): number {
	const tail = text.slice(-longestEscape);
	const escape = beginningOfEscape.exec(tail);
	if (escape !== null) return text.length - tail.length + escape.index;
	const last = text.charCodeAt(text.length - 1);
	return last >= 0xd800 && last <= 0xdbff ? text.length - 1 : text.length;
}

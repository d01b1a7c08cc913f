/** Reads a text as a reader would: unit by unit, with escapes resolved, each with its letters. */
import { foldCharacter, gap, unseen } from './fold-character.ts';

/** One unit of text, from `start` to `end`. One object is reused for all units. */
export class Unit {
	/** Lower-case letters and digits; `gap`; or `unseen`. */
	letters = gap;
	end = 0;
	/** Sign that is read as a letter: `@`, `$`. A word can also end before it. */
	isSign = false;
	isSpace = false;
	isApostrophe = false;
}

/** Signs by the letter they resemble. The comparison of words decides whether `l` replaces `i` and the like. */
const signLetters: Readonly<Record<string, string>> = { '@': 'a', $: 's', '!': 'i', '|': 'i', '+': 't' };

const isLetter = /^[\p{L}\p{N}]/u;
const isWhitespace = /^\s$/u;
/** Apostrophes and their substitutes on keyboards: quotation marks, accents, a prime. */
const apostrophe = /^['`´‘’‛′＇]$/u;
/** Maximum length of a character reference, escape or percent-encoding. */
const maxEscapeLength = 40;
const escapes =
	/(?:&(?:amp;){0,3}(?:#0{0,8}(\d{2,7})(?:;|(?!\d))|#[xX]0{0,8}([0-9a-fA-F]{1,6})(?:;|(?![0-9a-fA-F]))|(?:(nbsp|shy|amp|lt|gt)(?:;|(?![A-Za-z0-9=]))|(zwnj|zwj|lrm|rlm|commat|period|colon|hyphen|ZeroWidthSpace|NoBreak);))|\\u([0-9a-fA-F]{4})|\\u\{0{0,4}([0-9a-fA-F]{1,6})\}|\\x([0-9a-fA-F]{2}))/y;
const anyEscape = new RegExp(`${escapes.source}|%u?[0-9a-fA-F]{2}`);
const beginningOfEscape =
	/(?:&(?:amp;){0,3}(?:#\d{0,15}|#[xX][0-9a-fA-F]{0,14}|[a-zA-Z]{0,14})|\\|\\u[0-9a-fA-F]{0,3}|\\u\{[0-9a-fA-F]{0,10}|\\x[0-9a-fA-F]?|(?:%(?:25){0,8}[89a-fA-F][0-9a-fA-F]){0,3}%(?:25){0,8}(?:u[0-9a-fA-F]{0,3}|[0-9a-fA-F]?)|(?:%(?:25){0,8}[c-fC-F][0-9a-fA-F])(?:%(?:25){0,8}[89abAB][0-9a-fA-F]){0,2})$/;
const named: Readonly<Record<string, number>> = {
	nbsp: 0xa0,
	shy: 0xad,
	amp: 0x26,
	lt: 0x3c,
	gt: 0x3e,
	zwnj: 0x200c,
	zwj: 0x200d,
	lrm: 0x200e,
	rlm: 0x200f,
	commat: 0x40,
	period: 0x2e,
	colon: 0x3a,
	hyphen: 0x2010,
	ZeroWidthSpace: 0x200b,
	NoBreak: 0x2060,
};

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

export function hasEscape(text: string): boolean {
	return anyEscape.test(text);
}

/** @returns the decoded character reference, escape or percent-encoding that begins at `at`. */
export function escapeAt(text: string, at: number): { readonly codePoint: number; readonly end: number } | undefined {
	// Percent signs are the most common.
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

/** Maximum number of nested encodings of a percent sign. */
const maxEncodings = 8;

function percentEscapeAt(text: string, at: number): Escape | undefined {
	if (text.charCodeAt(at + 1) === letterU) return unicodePercentAt(text, at);
	const first = encodedByte(text, at);
	if (first === undefined || first.codePoint < 0x80) return first;
	// A non-ASCII character is in UTF-8 with each byte encoded.
	const length = first.codePoint >= 0xf0 ? 4 : first.codePoint >= 0xe0 ? 3 : first.codePoint >= 0xc2 ? 2 : 0;
	let codePoint = first.codePoint & (0xff >> (length + 1));
	let end = first.end;
	for (let index = 1; index < length; index++) {
		const next = text.charCodeAt(end) === percentSign ? encodedByte(text, end) : undefined;
		if (next === undefined || (next.codePoint & 0xc0) !== 0x80) return undefined;
		codePoint = (codePoint << 6) | (next.codePoint & 0x3f);
		end = next.end;
	}
	return length === 0 || codePoint > 0x10ffff ? undefined : { codePoint, end };
}

interface Escape {
	readonly codePoint: number;
	readonly end: number;
}

const letterU = 0x75;
const unicodePercent = /%u([0-9a-fA-F]{4})/y;

function unicodePercentAt(text: string, at: number): Escape | undefined {
	unicodePercent.lastIndex = at;
	const found = unicodePercent.exec(text);
	return found === null ? undefined : { codePoint: Number.parseInt(found[1] ?? '20', 16), end: unicodePercent.lastIndex };
}

/** Decodes one byte, with any nesting of its percent sign. */
function encodedByte(text: string, at: number): Escape | undefined {
	let escape = plainByte(text, at);
	for (let times = 0; times < maxEncodings && escape?.codePoint === percentSign; times++) {
		const inner = plainByte(text, escape.end - 1);
		if (inner === undefined) break;
		escape = inner;
	}
	return escape;
}

/** @param at position of the percent sign or its encoding, before two digits. */
function plainByte(text: string, at: number): Escape | undefined {
	const high = hexadecimalDigits[text.charCodeAt(at + 1)] ?? -1;
	const low = hexadecimalDigits[text.charCodeAt(at + 2)] ?? -1;
	return high < 0 || low < 0 ? undefined : { codePoint: high * 16 + low, end: at + 3 };
}

function escapedCodePoint([, decimal, hexadecimal, short, long, unicode, braced, byte]: RegExpExecArray): number {
	const name = short ?? long;
	if (name !== undefined) return named[name] ?? 0x20;
	const value = decimal === undefined ? Number.parseInt(hexadecimal ?? unicode ?? braced ?? byte ?? '20', 16) : Number(decimal);
	return value <= 0x10ffff ? value : 0x20;
}

/** Units of ASCII characters, read once. */
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

/** @returns the end of the text that further text cannot change: before an incomplete escape or character. */
export function settledEnd(text: string): number {
	const tail = text.slice(-maxEscapeLength);
	const escape = beginningOfEscape.exec(tail);
	if (escape !== null) return text.length - tail.length + escape.index;
	const last = text.charCodeAt(text.length - 1);
	return last >= 0xd800 && last <= 0xdbff ? text.length - 1 : text.length;
}

/** Converts the digits of all scripts, full-width signs, dashes and spaces to ASCII, and removes invisible characters. */
import { BoundedMap } from '../../../core/bounded-map.ts';
import { foldCharacter, unseen } from './fold-character.ts';
import { escapeAt, hasEscape } from './read-unit.ts';

export interface PlainText {
	readonly text: string;
	/** Original position of each character and of the end; undefined if no position changed. */
	readonly positions: Int32Array | undefined;
}

const beyondAscii = /[^\0-\x7f]/;
const isDigit = /^\d$/;
const dash = /^\p{Pd}$|^\u2212$/u;
const space = /^[\p{Zs}]$/u;
/** Cache of code units for characters of the basic plane. */
const cached = new Uint16Array(0x10000);
const notMet = 0;
const nothing = 1;
/** Cache of recent other characters. */
const cachedOthers = new BoundedMap<number, string>(4096);

export function plainDigits(text: string): PlainText {
	return beyondAscii.test(text) ? plainText(text, false) : { text, positions: undefined };
}

/**
 * Converts as `plainDigits` does, and also resolves character references, escapes and percent-encodings. @returns undefined if there are
 * none.
 */
export function unescapedDigits(text: string): PlainText | undefined {
	return hasEscape(text) ? plainText(text, true) : undefined;
}

function plainText(text: string, isUnescaped: boolean): PlainText {
	/** Original positions of the characters, once one of them has changed. */
	let positions: Int32Array | undefined;
	let plain = '';
	/** Start of unchanged text, which is copied in one piece. */
	let from = 0;
	const copy = (to: number): void => {
		if (positions !== undefined) for (let index = from; index < to; index++) positions[plain.length + index - from] = index;
		plain += text.slice(from, to);
	};
	for (let at = 0; at < text.length; ) {
		const code = text.charCodeAt(at);
		const escaped = isUnescaped && (code === 0x25 || code === 0x26 || code === 0x5c) ? escapeAt(text, at) : undefined;
		if (escaped === undefined && (code < 128 || standsForItself(code))) {
			at++;
			continue;
		}
		const codePoint = escaped?.codePoint ?? text.codePointAt(at) ?? 0;
		const end = escaped?.end ?? at + (codePoint > 0xffff ? 2 : 1);
		const replaced = codePoint < 128 ? String.fromCharCode(codePoint) : replace(codePoint);
		copy(at);
		// Both halves of a character have the position of its beginning.
		if (replaced.length !== 1 || end - at !== 1) positions ??= positionsOf(text);
		if (positions !== undefined) for (let index = 0; index < replaced.length; index++) positions[plain.length + index] = at;
		plain += replaced;
		at = end;
		from = end;
	}
	if (from === 0) return { text, positions };
	copy(text.length);
	if (positions !== undefined) positions[plain.length] = text.length;
	return { text: plain, positions };
}

function positionsOf(text: string): Int32Array {
	const positions = new Int32Array(text.length + 1);
	for (let index = 0; index < positions.length; index++) positions[index] = index;
	return positions;
}

function standsForItself(code: number): boolean {
	return cached[code] === code && (code < 0xd800 || code > 0xdfff);
}

function replace(codePoint: number): string {
	if (codePoint > 0xffff) return replaceOther(codePoint);
	const unit = cached[codePoint] ?? notMet;
	if (unit === nothing) return '';
	if (unit !== notMet) return String.fromCharCode(unit);
	const plain = plainOf(codePoint);
	cached[codePoint] = plain === '' ? nothing : plain.charCodeAt(0);
	return plain;
}

function replaceOther(codePoint: number): string {
	const known = cachedOthers.get(codePoint);
	if (known !== undefined) return known;
	const plain = plainOf(codePoint);
	cachedOthers.set(codePoint, plain);
	return plain;
}

/** Returns the replacement, which is never longer than the character. */
function plainOf(codePoint: number): string {
	const character = String.fromCodePoint(codePoint);
	const folded = foldCharacter(codePoint);
	if (folded === unseen) return '';
	if (isDigit.test(folded)) return folded;
	if (dash.test(character)) return '-';
	if (space.test(character)) return ' ';
	const compatible = character.normalize('NFKC');
	return compatible.length === 1 && compatible < '\x80' ? compatible : character;
}

/** A text with every script's digits, full-width signs, dashes and spaces in ASCII, and without what nobody sees. */
import { foldCharacter, unseen } from './fold-character.ts';
import { escapeAt, holdsEscape } from './read-unit.ts';

export interface PlainText {
	readonly text: string;
	/** Where each character was, and the end; undefined where nothing moved. */
	readonly places: Int32Array | undefined;
}

const beyondAscii = /[^\0-\x7f]/;
const isDigit = /^\d$/;
const dash = /^\p{Pd}$|^\u2212$/u;
const space = /^[\p{Zs}]$/u;
const remembered: (string | undefined)[] = [];

export function plainDigits(text: string): PlainText {
	return beyondAscii.test(text) ? plainText(text, false) : { text, places: undefined };
}

/** As `plainDigits`, with character references, escapes and percent-encodings resolved. @returns undefined where there is none. */
export function unescapedDigits(text: string): PlainText | undefined {
	return holdsEscape(text) ? plainText(text, true) : undefined;
}

function plainText(text: string, isUnescaped: boolean): PlainText {
	const places = new Int32Array(text.length + 1);
	let plain = '';
	for (let at = 0; at < text.length; ) {
		const code = text.charCodeAt(at);
		const escaped = isUnescaped && (code === 0x25 || code === 0x26 || code === 0x5c) ? escapeAt(text, at) : undefined;
		const codePoint = escaped?.codePoint ?? text.codePointAt(at) ?? 0;
		const replaced = codePoint < 128 ? String.fromCharCode(codePoint) : replace(codePoint);
		for (let index = 0; index < replaced.length; index++) places[plain.length + index] = at;
		plain += replaced;
		at = escaped?.end ?? at + (codePoint > 0xffff ? 2 : 1);
	}
	places[plain.length] = text.length;
	return { text: plain, places };
}

function replace(codePoint: number): string {
	if (codePoint > 0xffff) return plainOf(codePoint);
	let plain = remembered[codePoint];
	if (plain === undefined) {
		plain = plainOf(codePoint);
		remembered[codePoint] = plain;
	}
	return plain;
}

/** Never longer than the character. */
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

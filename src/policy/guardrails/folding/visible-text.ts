/**
 * Derives text as people see it, if it differs from the written one. Markup inside words is removed, right-to-left overrides are reversed,
 * and images that consist of text (SVG in data URLs) are decoded.
 */
import { percentDecoded } from '../../../core/percent-decoding.ts';
import { type Range, readMarkup } from './markup.ts';
import { escapeAt, settledEnd } from './read-unit.ts';

export interface VisibleText {
	readonly text: string;
	/** Written position of each character, and of the end of the reading. */
	readonly positions: Int32Array;
	/** Start of the written text that this reading does not decide while the text continues. */
	readonly openFrom: number;
}

const overrides = /[\u202d\u202e]/;
/** The override ends at a line end or at a character that terminates it. */
const overridden = /[\u202d\u202e]([^\n\r\u2029\u202a-\u202e]*)(\u202c|(?=[\n\r\u2029\u202a\u202b\u202d\u202e])|$)/g;
/** Limited to the length of context that is kept before undecided text. */
const svgHead = /data:\s{0,3}(?:image\/svg\+xml|text\/(?:html|xml|plain)|application\/(?:xhtml\+)?xml)([^,"'<>()]{0,64}),\s{0,3}/gi;
const anySvg = /data:\s{0,3}(?:image\/svg|text\/|application\/x)/i;
/** Base64, also in several lines if each continues with base64, not prose. */
const base64Run = /(?:[\w+/%-]|[ \t]*\r?\n[ \t]*(?=[\w+/]{16}))*(?:=|%3D){0,2}/iy;
const beginningOfLine = /^[ \t\r\n]*[\w+/]{0,15}$/;
const plainRun = /[^\s"'<>()]*/y;
const maxIndentLength = 64;
/** Maximum encoded length of an image that is decoded; the rest of a longer one is ignored. */
const maxImageLength = 12_288;

/** @returns the readings of a text that differ from the written one; usually none. @param isOpen more text can follow. */
export function visibleTexts(text: string, isOpen: boolean): readonly VisibleText[] {
	const readings: VisibleText[] = [];
	const unescaped = unescapeAll(text, isOpen);
	const plain = unescaped?.text ?? text;
	const decoded = decodeImages(plain, isOpen);
	if (decoded !== undefined) readings.push(unescaped === undefined ? decoded : compose(unescaped, decoded));
	const without = withoutMarkup(decoded?.text ?? plain, isOpen);
	const turned = turnOverrides(without?.text ?? decoded?.text ?? plain, isOpen);
	const last = [unescaped, decoded, without, turned].filter((reading) => reading !== undefined);
	if (unescaped !== undefined || without !== undefined || turned !== undefined) readings.push(last.reduce(compose));
	return readings;
}

/** @returns the written range of a span of the reading. */
export function writtenAt({ positions }: VisibleText, start: number, end: number): Range {
	const written = positions.subarray(start, end);
	return { start: Math.min(...written), end: Math.max(...written) + 1 };
}

/** @returns the position from which more text can create or change matches, given that of the reading. */
export function liveIn({ positions, openFrom }: VisibleText, live: number): number {
	return positions.subarray(live).reduce((min, position) => Math.min(min, position), openFrom);
}

class Rewriting {
	readonly #text: string;
	readonly #positions: number[] = [];
	#visible = '';

	constructor(text: string) {
		this.#text = text;
	}

	copy(start: number, end: number): void {
		for (let at = start; at < end; at++) this.#positions.push(at);
		this.#visible += this.#text.slice(start, end);
	}

	add(text: string, positionOf: (index: number) => number): void {
		for (let index = 0; index < text.length; index++) this.#positions.push(positionOf(index));
		this.#visible += text;
	}

	finish(end: number, openFrom: number): VisibleText {
		this.#positions.push(end);
		return { text: this.#visible, positions: Int32Array.from(this.#positions), openFrom };
	}
}

const turningTag = /^<bdo\b[^>]*\brtl\b/i;

function withoutMarkup(text: string, isOpen: boolean): VisibleText | undefined {
	if (!text.includes('<')) return undefined;
	const { ranges, openFrom } = readMarkup(text);
	const end = isOpen ? openFrom : text.length;
	if (ranges.length === 0 && end === text.length) return undefined;
	const rewriting = new Rewriting(text);
	let from = 0;
	for (const range of ranges) {
		rewriting.copy(from, range.start);
		// Browsers show the element's content as if an override preceded it.
		const tag = text.slice(range.start, range.end);
		if (turningTag.test(tag)) rewriting.add('\u202e', () => range.start);
		else if (/^<\/bdo/i.test(tag)) rewriting.add('\u202c', () => range.start);
		from = range.end;
	}
	rewriting.copy(from, end);
	return rewriting.finish(end, end);
}

/** Escaped `<`, override or head of a data URL, which disguise the input of other readings. */
const escapedSign =
	/&(?:amp;){0,3}(?:lt\b|colon\b|#0*(?:60|58|823[78])\b|#x0*(?:3c|3a|202[de])\b)|%(?:25){0,8}(?:3c|3a|E2%(?:25){0,8}80%(?:25){0,8}A[DE])|svg%(?:25){0,8}2b|\\u(?:003c|202[de])|\\x3c/i;

function unescapeAll(text: string, isOpen: boolean): VisibleText | undefined {
	if (!escapedSign.test(text)) return undefined;
	const end = isOpen ? settledEnd(text) : text.length;
	const rewriting = new Rewriting(text);
	let from = 0;
	for (let at = 0; at < end; ) {
		const code = text.charCodeAt(at);
		const escape = code === 0x26 || code === 0x25 || code === 0x5c ? escapeAt(text, at) : undefined;
		if (escape === undefined || escape.end > end) {
			at++;
			continue;
		}
		rewriting.copy(from, at);
		const start = at;
		rewriting.add(String.fromCodePoint(escape.codePoint), () => start);
		at = escape.end;
		from = at;
	}
	rewriting.copy(from, end);
	return rewriting.finish(end, end);
}

function turnOverrides(text: string, isOpen: boolean): VisibleText | undefined {
	if (!overrides.test(text)) return undefined;
	const rewriting = new Rewriting(text);
	let from = 0;
	let openFrom = text.length;
	for (const { 0: whole, 1: inside = '', 2: ending = '', index } of text.matchAll(overridden)) {
		rewriting.copy(from, index);
		const start = index + 1;
		const characters = Array.from(inside);
		let before = start + inside.length;
		for (const character of characters.toReversed()) {
			before -= character.length;
			const position = before;
			rewriting.add(character, (offset) => position + offset);
		}
		from = index + whole.length;
		if (ending === '' && from === text.length && isOpen) openFrom = Math.min(openFrom, index);
	}
	rewriting.copy(from, text.length);
	return rewriting.finish(text.length, openFrom);
}

function decodeImages(text: string, isOpen: boolean): VisibleText | undefined {
	if (!anySvg.test(text)) return undefined;
	const rewriting = new Rewriting(text);
	let from = 0;
	let openFrom = text.length;
	for (const { 0: head, 1: parameters = '', index } of text.matchAll(svgHead)) {
		const start = index + head.length;
		if (start < from) continue;
		const isBase64 = /;\s*base64\s*$/i.test(parameters);
		const run = isBase64 ? base64Run : plainRun;
		run.lastIndex = start;
		const written = (run.exec(text)?.[0] ?? '').slice(0, maxImageLength);
		const end = start + written.length;
		if (isOpen && (end === text.length || (isBase64 && beginningOfLine.test(text.slice(end, end + maxIndentLength))))) {
			openFrom = Math.min(openFrom, start);
		}
		const image = decodeSvg(written, isBase64);
		rewriting.copy(from, start);
		const ratio = image.length === 0 ? 0 : written.length / image.length;
		rewriting.add(image, (offset) => start + Math.floor(offset * ratio));
		from = end;
	}
	if (from === 0) return undefined;
	rewriting.copy(from, text.length);
	return rewriting.finish(text.length, openFrom);
}

/** @param written text after the comma of a data URL. */
function decodeSvg(written: string, isBase64: boolean): string {
	const unescaped = percentDecoded(written);
	return isBase64 ? Buffer.from(unescaped, 'base64').toString() : unescaped;
}

/** Composes a reading of a reading. */
function compose(outer: VisibleText, inner: VisibleText): VisibleText {
	const positionOf = (at: number): number => outer.positions[at] ?? outer.positions.at(-1) ?? 0;
	return {
		text: inner.text,
		positions: inner.positions.map(positionOf),
		openFrom: Math.min(outer.openFrom, positionOf(inner.openFrom)),
	};
}

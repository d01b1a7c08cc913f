/**
 * A text as it is shown to people where that differs from how it is written: markup inside words removed, right-to-left overrides
 * turned round, and images that consist of text (SVG in data URLs) decoded.
 */
import { percentDecoded } from '../../../core/percent-decoding.ts';
import { type Range, unfinishedMarkup, unseenMarkup } from './markup.ts';

export interface ShownText {
	readonly text: string;
	/** Where each character is written, and how far the writing was read. */
	readonly places: Int32Array;
	/** Nothing that is written from here on is decided by this reading while the text goes on. */
	readonly openFrom: number;
}

const overrides = /[\u202d\u202e]/;
/** A line, or what ends the override, ends it. */
const overridden = /[\u202d\u202e]([^\n\r\u2029\u202a-\u202e]*)(\u202c|(?=[\n\r\u2029\u202a\u202b\u202d\u202e])|$)/g;
/** Short enough for the text that is kept before what is undecided. */
const svgHead = /data:image\/svg\+xml([^,\s"'<>()]{0,64}),/gi;
const anySvg = /:image\/svg/i;
const base64Run = /[\w+/%=-]*/y;
const plainRun = /[^\s"'<>()]*/y;
/** More of an image is not decoded. */
const longestImage = 12_288;

/** @returns the readings of a text that differ from how it is written; none of most texts. @param isOpen more text may follow. */
export function shownTexts(text: string, isOpen: boolean): readonly ShownText[] {
	const readings: ShownText[] = [];
	const decoded = decodeImages(text, isOpen);
	if (decoded !== undefined) readings.push(decoded);
	const without = withoutMarkup(decoded?.text ?? text, isOpen);
	const turned = turnOverrides(without?.text ?? decoded?.text ?? text, isOpen);
	const last = [decoded, without, turned].filter((reading) => reading !== undefined);
	if (without !== undefined || turned !== undefined) readings.push(last.reduce(compose));
	return readings;
}

/** @returns where the span of the reading is written. */
export function writtenAt({ places }: ShownText, start: number, end: number): Range {
	const written = places.subarray(start, end);
	return { start: Math.min(...written), end: Math.max(...written) + 1 };
}

/** @returns from where on more text may make or change matches, given that in the reading. */
export function liveIn({ places, openFrom }: ShownText, live: number): number {
	return places.subarray(live).reduce((least, place) => Math.min(least, place), openFrom);
}

class Rewriting {
	readonly #text: string;
	readonly #places: number[] = [];
	#shown = '';

	constructor(text: string) {
		this.#text = text;
	}

	copy(start: number, end: number): void {
		for (let at = start; at < end; at++) this.#places.push(at);
		this.#shown += this.#text.slice(start, end);
	}

	add(text: string, placeOf: (index: number) => number): void {
		for (let index = 0; index < text.length; index++) this.#places.push(placeOf(index));
		this.#shown += text;
	}

	finish(end: number, openFrom: number): ShownText {
		this.#places.push(end);
		return { text: this.#shown, places: Int32Array.from(this.#places), openFrom };
	}
}

function withoutMarkup(text: string, isOpen: boolean): ShownText | undefined {
	if (!text.includes('<')) return undefined;
	const end = isOpen ? unfinishedMarkup(text) : text.length;
	const ranges = unseenMarkup(end === text.length ? text : text.slice(0, end));
	if (ranges.length === 0 && end === text.length) return undefined;
	const rewriting = new Rewriting(text);
	let from = 0;
	for (const range of ranges) {
		rewriting.copy(from, range.start);
		from = range.end;
	}
	rewriting.copy(from, end);
	return rewriting.finish(end, end);
}

function turnOverrides(text: string, isOpen: boolean): ShownText | undefined {
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
			const place = before;
			rewriting.add(character, (offset) => place + offset);
		}
		from = index + whole.length;
		if (ending === '' && from === text.length && isOpen) openFrom = Math.min(openFrom, index);
	}
	rewriting.copy(from, text.length);
	return rewriting.finish(text.length, openFrom);
}

function decodeImages(text: string, isOpen: boolean): ShownText | undefined {
	if (!anySvg.test(text)) return undefined;
	const rewriting = new Rewriting(text);
	let from = 0;
	let openFrom = text.length;
	for (const { 0: head, 1: parameters = '', index } of text.matchAll(svgHead)) {
		const start = index + head.length;
		if (start < from) continue;
		const isBase64 = /;base64$/i.test(parameters);
		const run = isBase64 ? base64Run : plainRun;
		run.lastIndex = start;
		const written = (run.exec(text)?.[0] ?? '').slice(0, longestImage);
		const end = start + written.length;
		if (isOpen && end === text.length) openFrom = Math.min(openFrom, start);
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

/** @param written what follows the comma of a data URL. */
function decodeSvg(written: string, isBase64: boolean): string {
	const unescaped = percentDecoded(written);
	return isBase64 ? Buffer.from(unescaped, 'base64').toString() : unescaped;
}

/** A reading of a reading. */
function compose(outer: ShownText, inner: ShownText): ShownText {
	const placeOf = (at: number): number => outer.places[at] ?? outer.places.at(-1) ?? 0;
	return {
		text: inner.text,
		places: inner.places.map(placeOf),
		openFrom: Math.min(outer.openFrom, placeOf(inner.openFrom)),
	};
}

/** Finds HTML inside words as browsers parse it: tags that do not separate the letters around them, comments, CDATA marks. */

/** Maximum length of a tag or comment; longer ones are text. */
const maxTagLength = 1024;
/** Tags that separate words, because a browser begins a new line or a cell with them. */
const separating =
	/^(?:address|article|aside|blockquote|br|caption|center|dd|details|dir|div|dl|dt|fieldset|figcaption|figure|footer|form|frame|h[1-6]|head|header|hr|html|iframe|input|legend|li|main|menu|nav|object|ol|optgroup|option|p|pre|section|select|summary|table|tbody|td|textarea|tfoot|th|thead|title|tr|ul|video|img|button|script|style|body)$/i;
const begun = /<[a-z/!?]/i;
const tagName = /[a-z][^\s/<>]*/iy;
const cdataStart = '<![CDATA[';
const cdataEnd = ']]>';
const noMarkup = -1;
const open = -2;

/** Part of a text, from `start` to `end`. */
export interface Range {
	readonly start: number;
	readonly end: number;
}

export interface Markup {
	/** Ranges of tags and comments, which a reader does not see. */
	readonly ranges: readonly Range[];
	/** Start of an incomplete tag or comment at the end of the text; the length of the text if there is none. */
	readonly openFrom: number;
}

export function readMarkup(text: string): Markup {
	const ranges: Range[] = [];
	if (!begun.test(text) && !text.endsWith('<')) return { ranges, openFrom: text.length };
	const hasCdata = text.includes(cdataStart);
	for (let at = nextMark(text, 0, hasCdata); at !== -1; ) {
		const end = markupEnd(text, at);
		if (end === open && text.length - at <= maxTagLength) return { ranges, openFrom: at };
		if (end > at) ranges.push({ start: at, end });
		at = nextMark(text, end > at ? end : at + 1, hasCdata);
	}
	return { ranges, openFrom: text.length };
}

function nextMark(text: string, from: number, hasCdata: boolean): number {
	const tag = text.indexOf('<', from);
	const mark = hasCdata ? text.indexOf(cdataEnd, from) : -1;
	return mark === -1 || (tag !== -1 && tag < mark) ? tag : mark;
}

/** @returns the end of the markup at `at`; `noMarkup`; or `open`. */
function markupEnd(text: string, at: number): number {
	if (text.startsWith(cdataEnd, at)) return at + cdataEnd.length;
	const next = text.charAt(at + 1);
	if (next === '') return open;
	if (next === '!') return declarationEnd(text, at);
	if (next === '?') return closing(text, at + 2);
	if (next !== '/') return tagEnd(text, at, at + 1);
	const name = text.charAt(at + 2);
	if (name === '') return open;
	return /[a-z]/i.test(name) ? tagEnd(text, at, at + 2) : closing(text, at + 2);
}

function declarationEnd(text: string, at: number): number {
	const rest = text.slice(at, at + cdataStart.length);
	if (rest === cdataStart) return at + cdataStart.length;
	if (rest.length < cdataStart.length && cdataStart.startsWith(rest)) return open;
	if (!rest.startsWith('<!--')) return rest === '<!-' && text.length === at + 3 ? open : closing(text, at + 2);
	for (const empty of ['<!-->', '<!--->']) if (text.startsWith(empty, at)) return at + empty.length;
	const within = text.slice(at + 4, at + 4 + maxTagLength);
	const found = /--!?>/.exec(within);
	if (found !== null) return at + 4 + found.index + found[0].length;
	return within.length < maxTagLength ? open : noMarkup;
}

/** Ends a comment as browsers do, at the next `>`. */
function closing(text: string, from: number): number {
	for (let at = from; at < text.length && at - from < maxTagLength; at++) {
		if (text.charAt(at) === '>') return at + 1;
		if (text.charAt(at) === '<') return noMarkup;
	}
	return text.length - from < maxTagLength ? open : noMarkup;
}

function tagEnd(text: string, start: number, nameStart: number): number {
	tagName.lastIndex = nameStart;
	const [name] = tagName.exec(text) ?? [];
	if (name === undefined || separating.test(name)) return name !== undefined && nameStart + name.length === text.length ? open : noMarkup;
	let quote = '';
	let isValue = false;
	for (let at = nameStart + name.length; at < text.length && at - start < maxTagLength; at++) {
		const character = text.charAt(at);
		if (quote !== '') {
			if (character === quote) quote = '';
		} else if (character === '>') {
			return at + 1;
		} else if (character === '<') {
			return noMarkup;
		} else if (isValue && (character === '"' || character === "'")) {
			quote = character;
		}
		if (quote === '' && !/\s/.test(character)) isValue = character === '=';
	}
	return text.length - start < maxTagLength ? open : noMarkup;
}

/**
 * Decodes a part of a request to the text that an upstream server could read. Patterns see plain lower-case text with single spaces. Each
 * value has its own line, so that no pattern spans two of them.
 */

import { signsOf } from './text-signs.ts';

const slashSign = signsOf('/');
const spaceSign = signsOf(' ');

/** Maximum length to scan; a longer part matches a size rule. */
export const maxScannedLength = 8192;

/** Forms of one decoded part that patterns need. */
export interface Forms {
	/** Decoded, in lower case, each run of white space as one space. */
	readonly plain: string;
	/** Without spaces, which browsers and some parsers skip. */
	readonly packed: string;
	/** Without `/* *\/` comments, which SQL and PHP read as a space. */
	readonly uncommented: string;
	/** Without the quotes, backslashes, carets and unset variables that shells drop inside a word; an encoded line end is `\r`. */
	readonly unquoted: string;
	/** With each run of path separators as one slash, and without `.` segments. */
	readonly slashed: string;
	/** Decoded, in lower case, with encoded line ends as `\r`; empty if there are none. */
	readonly framed: string;
	/** Text as received. */
	readonly raw: string;
}

export interface Reading extends Forms {
	/** Bit mask of the signs in any form except `raw` (`text-signs.ts`). */
	readonly signs: number;
}

/** Reads a header field's value. An address in it has its own query. */
export function readHeaderValue(value: string): readonly Reading[] {
	const raw = value.slice(0, maxScannedLength);
	const mark = raw.indexOf('?');
	const isAddress = mark !== -1 && /^https?:\/\//i.test(raw);
	return readings(percentDecoded(isAddress ? `${raw.slice(0, mark)}\n${queryLines(raw.slice(mark + 1))}` : raw), raw);
}

export function readPath(path: string): readonly Reading[] {
	const raw = path.slice(0, maxScannedLength);
	return readings(percentDecoded(raw), raw);
}

/** Reads names and values of a query, one per line. */
export function readQuery(query: string): readonly Reading[] {
	const raw = query.slice(0, maxScannedLength);
	return readings(percentDecoded(queryLines(raw)), raw);
}

function queryLines(query: string): string {
	return query
		.replace(/(^|&)([^&=]*)=/g, '$1$2\n')
		.replaceAll('&', '\n')
		.replaceAll('+', ' ');
}

/** Reads names and values of a `cookie` header field, one per line. */
export function readCookies(cookie: string): readonly Reading[] {
	const raw = cookie.slice(0, maxScannedLength);
	const lines = raw.replace(/(^|;) ?([^;=]*)=/g, '$1$2\n').replaceAll(';', '\n');
	return readings(percentDecoded(lines), raw);
}

/** Reads the beginning of a body: strings of JSON and values of a form on separate lines, anything else unchanged. */
export function readBodyText(text: string): readonly Reading[] {
	const raw = text.slice(0, maxScannedLength);
	if (/^\s{0,8}[[{]/.test(raw)) return readings(`${jsonLines(raw)}\n${raw.replaceAll('\n', ' ')}`, raw);
	const isForm = /^[\w.%+[\]-]{1,64}=[^\s<{]*$/.test(raw);
	return readings(percentDecoded(isForm ? queryLines(raw) : raw.replaceAll('\n', ' ')), raw);
}

const jsonEscapes: Readonly<Record<string, string>> = { n: '\r', r: '\r', t: ' ', b: ' ', f: ' ' };

function jsonLines(text: string): string {
	return Array.from(text.matchAll(/"((?:[^"\\]|\\[^])*)(?:"|$)/g), ([, inner = '']) =>
		inner
			.replaceAll('\n', ' ')
			.replace(/\\(?:u([0-9a-fA-F]{4})|([^u]))/g, (_whole, code?: string, short: string = '') =>
				code === undefined ? (jsonEscapes[short] ?? short) : characterOf(Number.parseInt(code, 16)),
			),
	).join('\n');
}

/** Maximum number of decodings, because servers behind proxies decode more than once. */
const maxDecodings = 4;

/** Returns the text decoded once, and the completely decoded text if it differs. */
function readings(once: string, raw: string): readonly Reading[] {
	const first = reading(once, raw);
	if (!/[%&\\\u00c0-\uffff]/.test(once)) return [first];
	let again = once;
	for (let round = 1; round < maxDecodings; round++) {
		const next = foldedWide(unescaped(percentDecoded(again)));
		if (next === again) break;
		again = next;
	}
	return again === once ? [first] : [first, reading(again, raw)];
}

/**
 * Prose has endings in brackets, which resemble function calls: `alert(s) sent`, `confirm(ed) bookings`. In code no word follows the call.
 */
const bracketedEnding = /(?<=(?:^|[\n ])[a-z]{2,20})\((e?s|ed|ing)\)(?=[,.:!?]? [a-z])/g;

function withoutEndings(text: string): string {
	return text.includes('(') ? text.replace(bracketedEnding, '$1') : text;
}

/** Unset variables inside a word, which shells expand to nothing. */
const unsetVariable = /(?<=[a-z/])\$(?:\{[a-z_]\w{0,20}\}|[@*!1-9-])(?=[a-z/])/g;

function reading(decoded: string, raw: string): Reading {
	const framed = withoutEndings(decoded.toLowerCase());
	// The last alternative is a non-breaking space in UTF-8.
	const plain = framed.replace(/(?:[^\n!-~\u0080-\u009f\u00a1-\uffff]|\u00c2\u00a0)+/g, ' ');
	const uncommented = plain.includes('/*') ? withoutComments(plain) : plain;
	const hasLineEnds = framed.includes('\r');
	const lined = hasLineEnds ? framed.replace(/[^\n\r!-~\u0080-\u009f\u00a1-\uffff]+/g, ' ') : plain;
	return {
		plain,
		packed: plain.includes(' ') ? plain.replaceAll(' ', '') : plain,
		uncommented,
		unquoted: /['"\\^$]/.test(lined) ? lined.replace(unsetVariable, '').replace(/\$(?=['"])|['"\\^]+/g, '') : lined,
		slashed: /[\\/][\\/.]/.test(plain) || plain.includes('\\') ? plain.replace(/[\\/]+(?:\.[\\/]+)*/g, '/') : plain,
		framed: hasLineEnds ? framed : '',
		raw,
		// Path separators become slashes, comments spaces.
		signs: signsOf(plain) | (plain.includes('\\') ? slashSign : 0) | (uncommented === plain ? 0 : spaceSign),
	};
}

/** Decodes one byte per character, so a multi-byte character stays several characters. */
function percentDecoded(text: string): string {
	if (!text.includes('%')) return text;
	return text.replace(/%(?:u([0-9a-fA-F]{4})|([0-9a-fA-F]{2}))/g, (_whole, wide?: string, narrow?: string) =>
		characterOf(Number.parseInt(wide ?? narrow ?? '', 16)),
	);
}

const entities: Readonly<Record<string, string>> = {
	lt: '<',
	gt: '>',
	amp: '&',
	quot: '"',
	apos: "'",
	colon: ':',
	lpar: '(',
	rpar: ')',
	sol: '/',
	newline: ' ',
	tab: ' ',
	nbsp: ' ',
	semi: ';',
	comma: ',',
	period: '.',
	dollar: '$',
	num: '#',
	percnt: '%',
	excl: '!',
	equals: '=',
	grave: '`',
	lbrace: '{',
	lcub: '{',
	rbrace: '}',
	rcub: '}',
	lbrack: '[',
	lsqb: '[',
	rbrack: ']',
	rsqb: ']',
	bsol: '\\',
	lowbar: '_',
	plus: '+',
	ast: '*',
	commat: '@',
	quest: '?',
	verbar: '|',
};

/** Resolves a reference that may lack its end: then the longest known name at the beginning is valid. */
function entityOf(name: string): string | undefined {
	for (let length = name.length; length >= 2; length--) {
		const character = entities[name.slice(0, length)];
		if (character !== undefined) return character + name.slice(length);
	}
	return undefined;
}

/** Resolves character references of HTML, and escapes of JavaScript and JSON. */
function unescaped(text: string): string {
	let plain = text;
	if (plain.includes('&')) {
		plain = plain.replace(
			/&(?:#x([0-9a-f]{1,6})|#([0-9]{1,7})|([a-z]{2,10}));?/gi,
			(whole, hex?: string, decimal?: string, name?: string) => {
				if (name !== undefined) return entityOf(name.toLowerCase()) ?? whole;
				return characterOf(hex === undefined ? Number(decimal) : Number.parseInt(hex, 16));
			},
		);
	}
	if (plain.includes('\\')) {
		plain = plain
			.replace(/\\[nr](?=[/a-z\\]|$|[;|&])/g, '\r')
			.replace(/\\(?:u\{?([0-9a-f]{2,4})\}?|x([0-9a-f]{2}))/gi, (_whole, wide?: string, narrow?: string) =>
				characterOf(Number.parseInt(wide ?? narrow ?? '', 16)),
			);
	}
	return plain;
}

/** Returns the ASCII character that servers read for this one, by compatibility or resemblance. */
function asciiOf(code: number): string | undefined {
	const alike = lookAlikes.get(code);
	if (alike !== undefined) return alike;
	const folded = String.fromCharCode(code).normalize('NFKC');
	return /^[!-~]{1,4}$/.test(folded) ? folded : undefined;
}

const lookAlikes: ReadonlyMap<number, string> = new Map([
	[0x2215, '/'],
	[0x2044, '/'],
	[0x29f8, '/'],
	[0x2216, '\\'],
	[0x29f5, '\\'],
	[0x02b9, "'"],
	[0x02bc, "'"],
	[0x2032, "'"],
	[0x3008, '<'],
	[0x2329, '<'],
	[0x2039, '<'],
	[0x3009, '>'],
	[0x232a, '>'],
	[0x203a, '>'],
	[0x24ea, '0'],
	[0x3002, '.'],
]);

/** Folds such characters, also as UTF-8 bytes, and ASCII in two or three bytes, which UTF-8 forbids. */
function foldedWide(text: string): string {
	if (!/[\u00c0-\uffff]/.test(text)) return text;
	return (
		text
			// Servers that keep the low byte of a character read both of these as a line end.
			.replace(/(?:\u00e5\u0098[\u008a\u008d]|[\u560a\u560d]){2}/g, '\r')
			.replace(/[\u2000-\u33ff\uff00-\uffef\u02b9\u02bc]/g, (wide) => asciiOf(wide.charCodeAt(0)) ?? wide)
			.replace(/([\u00e0\u00e2\u00e3\u00ef])([\u0080-\u00bf])([\u0080-\u00bf])/g, (whole, first: string, second: string, third: string) => {
				const code = ((first.charCodeAt(0) & 0x0f) << 12) | ((second.charCodeAt(0) & 0x3f) << 6) | (third.charCodeAt(0) & 0x3f);
				return code < 0x80 ? characterOf(code) : (asciiOf(code) ?? whole);
			})
			.replace(/([\u00c0\u00c1])([\u0080-\u00bf])/g, (_whole, first: string, second: string) =>
				characterOf(((first.charCodeAt(0) & 1) << 6) | (second.charCodeAt(0) & 0x3f)),
			)
	);
}

/** Maps line ends to `\r` and other control characters to white space. NUL is dropped, as by servers that are not written in C. */
function characterOf(code: number): string {
	if (code === 0) return '';
	if (code === 10 || code === 13) return '\r';
	if (code < 0x20 || code === 0x7f) return ' ';
	return code > 0xffff ? '\ufffd' : String.fromCharCode(code);
}

/** Removes comments in one pass, because a pattern with a lazy middle would search for the end again from each beginning. */
function withoutComments(text: string): string {
	let rest = '';
	let from = 0;
	for (;;) {
		const begin = text.indexOf('/*', from);
		const end = begin === -1 ? -1 : text.indexOf('*/', begin + 2);
		if (end === -1) return (rest + text.slice(from)).replace(/ {2,}/g, ' ');
		rest += `${text.slice(from, begin)} `;
		from = end + 2;
	}
}

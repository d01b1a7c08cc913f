/** Detects e-mail addresses in their usual spellings, also with `(at)` and `[dot]`; no quoted local parts, no comments. */
import { isAlphanumeric } from './signs.ts';

/** Limit of RFC 5321 section 4.5.3.1. */
const maxLocalLength = 64;
export const maxEmailLength = 254;
const localSigns = new Set(Array.from(".!#$%&'*+-/=?^_`{|}~", (sign) => sign.charCodeAt(0)));
const dot = 0x2e;
const hyphen = 0x2d;
const at = 0x40;
/** Maximum spaces inside and around the replacement of a sign. */
const maxSpaces = 3;
const closings: ReadonlyMap<string, string> = new Map([
	['(', ')'],
	['[', ']'],
	['{', '}'],
	['<', '>'],
]);
const signWords = { '@': ['at', '@'], '.': ['dot', '.'] } as const;
/** Expression for every position at which `readAddress` can find an address. */
export const addressSign = '@(?<=[^ @]@)(?![ @])|[([{<](?= {0,3}(?:@|[aA][tT]|[aA]?$))';
/** Mailboxes that no person reads, and the account that all users of a Git host share. A name and a sign can precede them. */
const sharedMailbox = /(?:^|[^\w.+-])(?:git|(?:[a-z\d]{1,20}[._-]){0,2}(?:no|do[._-]?not|dont)[._-]?reply(?:[._+-][a-z\d]{1,20})?)$/i;
const topLevel = /^[a-z\u0080-\uffff][a-z0-9\u0080-\uffff-]+$/i;

export interface Span {
	readonly start: number;
	readonly end: number;
}

export interface ReadAddress {
	readonly start: number;
	/** End of the address; -1 if there is none. */
	readonly end: number;
	/** Tells whether more text can create or extend the address. */
	readonly canContinue: boolean;
}

/** @param where - position of an `addressSign`. */
export function emailAround(text: string, where: number): Span | undefined {
	const { start, end } = readAddress(text, where) ?? none;
	return end === -1 || sharedMailbox.test(text.slice(start, localEnd(text, where))) ? undefined : { start, end };
}

/** @returns undefined if there is no address, whatever follows. */
export function readAddress(text: string, where: number): ReadAddress | undefined {
	const isPlain = text.charCodeAt(where) === at;
	const start = localStart(text, localEnd(text, where));
	if (start === -1) return undefined;
	const from = isPlain ? where + 1 : signEnd(text, where, '@');
	if (from === wrong) return undefined;
	if (from === open || from >= text.length) return { start, end: -1, canContinue: true };
	return readDomain(text, isPlain ? from : skip(text, from), start);
}

function localEnd(text: string, where: number): number {
	return text.charCodeAt(where) === at ? where : skipBack(text, where);
}

const none: ReadAddress = { start: 0, end: -1, canContinue: false };
const wrong = -1;
/** Result for a text that ends before the decision. */
const open = -2;

function localStart(text: string, end: number): number {
	let start = end;
	const min = Math.max(0, end - maxLocalLength);
	while (start > min && isLocal(text.charCodeAt(start - 1))) start--;
	while (start < end && !isWordCode(text.charCodeAt(start))) start++;
	return start === end || text.charCodeAt(end - 1) === dot ? -1 : start;
}

function readDomain(text: string, from: number, start: number): ReadAddress {
	const max = Math.min(text.length, start + maxEmailLength);
	let labelStart = from;
	let good = -1;
	for (let isFirst = true; ; isFirst = false) {
		const labelEnd = endOfLabel(text, labelStart, max);
		if (!isFirst && isTopLevel(text, labelStart, labelEnd)) good = withoutHyphens(text, labelEnd);
		if (labelEnd === text.length) return { start, end: good, canContinue: true };
		const next = labelEnd === labelStart ? wrong : dotEnd(text, labelEnd);
		if (next === open || next === text.length) return { start, end: good, canContinue: true };
		if (next === wrong || next >= max || !isWordCode(text.charCodeAt(next))) return { start, end: good, canContinue: false };
		labelStart = next;
	}
}

function endOfLabel(text: string, from: number, max: number): number {
	let end = from;
	while (end < max && (isWordCode(text.charCodeAt(end)) || (text.charCodeAt(end) === hyphen && end > from))) end++;
	return end;
}

function isTopLevel(text: string, from: number, to: number): boolean {
	const label = text.slice(from, withoutHyphens(text, to));
	return label.length > 1 && topLevel.test(label);
}

function withoutHyphens(text: string, end: number): number {
	let last = end;
	while (text.charCodeAt(last - 1) === hyphen) last--;
	return last;
}

/** @returns the beginning of the next label, after a dot or its replacement. */
function dotEnd(text: string, from: number): number {
	if (text.charCodeAt(from) === dot) return from + 1;
	const bracket = skip(text, from);
	if (bracket >= text.length) return bracket - from > maxSpaces ? wrong : open;
	const end = signEnd(text, bracket, '.');
	return end < 0 ? end : skip(text, end);
}

/** @returns the end of `(at)`, `[ dot ]` and the like, `wrong` or `open`. */
function signEnd(text: string, bracket: number, sign: '@' | '.'): number {
	const closing = closings.get(text.charAt(bracket));
	if (closing === undefined) return wrong;
	const begin = skip(text, bracket + 1);
	if (begin >= text.length) return open;
	for (const word of signWords[sign]) {
		const written = text.slice(begin, begin + word.length).toLowerCase();
		if (!word.startsWith(written)) continue;
		const end = skip(text, begin + word.length);
		if (end >= text.length) return open;
		if (text.charAt(end) === closing) return end + 1;
	}
	return wrong;
}

function skip(text: string, from: number): number {
	let end = from;
	while (end - from < maxSpaces && isSpace(text.charCodeAt(end))) end++;
	return end;
}

function skipBack(text: string, from: number): number {
	let start = from;
	while (from - start < maxSpaces && isSpace(text.charCodeAt(start - 1))) start--;
	return start;
}

function isSpace(code: number): boolean {
	return code === 0x20;
}

function isLocal(code: number): boolean {
	return isWordCode(code) || localSigns.has(code);
}

/** Accepts letters beyond ASCII on both sides of the sign (RFC 6531). */
function isWordCode(code: number): boolean {
	return isAlphanumeric(code) || (code >= 0xa1 && code !== 0x2019 && (code < 0x2000 || code > 0x206f) && (code < 0x3000 || code > 0x303f));
}

/** Endings of domains that people spell out. `look at the dot on x` has none. */
const ending =
	'(?:com|org|net|edu|gov|info|biz|io|ai|app|dev|me|co|uk|de|fr|es|it|nl|be|ch|at|eu|us|ca|au|nz|ie|in|jp|cn|kr|ru|ua|br|mx|se|no|dk|fi|pl|pt|tr|za|il|sg)';
const local = '[a-z0-9][\\w.+-]{0,63}';
const label = '[a-z0-9][a-z0-9-]{0,62}';
/** Excludes "at the dot com boom". */
const noDomain = '(?!(?:the|an?|this|that|these|every|each|our|their|its|your|my|his|her|any|no|one) )';
const atWord = '(?: at | ?[([{<] ?(?:at|@) ?[)\\]}>] ?)';
const words = new RegExp(
	`(?<![\\w.+-])${local}${atWord}${noDomain}${label}(?: dot ${label}){0,3}? dot ${ending}(?: dot ${ending})?(?![\\w-])`,
	'gi',
);
const spaced = new RegExp(`(?<![\\w.+-])${local} {0,2}@ {0,2}(?:${label}\\.){1,4}${ending}(?![\\w-])`, 'gi');
/** Cheap first test: most texts have no match, and a search without alternatives is fast. */
const spokenDot = /[dD][oO][tT] /;

const unfinishedDots = `(?: dot ${label}){0,4}(?: (?:d(?:o(?:t ?)?)?)?)?`;
const unfinishedWords = new RegExp(`(?<![\\w.+-])${local}(?: at?|(?: at |${atWord})(?:${label}${unfinishedDots})?)$`, 'i');
/** Precondition of `unfinishedWords`. */
const spokenBeginning = / at?$| at |[)\]}>]/i;
const unfinishedSpaced = new RegExp(`(?<![\\w.+-])${local} {0,2}@ {0,2}[\\w.-]{0,128}$`, 'i');
/** Maximum distance of an unfinished address from the end of the text. */
const tailLength = 160;

/** Finds addresses with signs as words between spaces ("bob at example dot com"), or with spaces around `@`. */
export function spokenEmailsIn(text: string): readonly Span[] {
	const found: Span[] = [];
	if (spokenDot.test(text)) {
		addPersons(text.matchAll(words), found);
	}
	if (text.includes('@') && (text.includes(' @') || text.includes('@ '))) {
		addPersons(text.matchAll(spaced), found);
	}
	return found;
}

function addPersons(addresses: Iterable<RegExpExecArray>, found: Span[]): void {
	for (const { 0: address, index } of addresses) {
		const [localPart = ''] = /^[\w.+-]+/.exec(address) ?? [];
		if (!sharedMailbox.test(localPart)) found.push({ start: index, end: index + address.length });
	}
}

/** @returns the beginning of an address that more text can complete; the length of the text if there is none. */
export function spokenEmailStart(text: string, min: number): number {
	const from = Math.max(min, text.length - tailLength);
	const tail = text.slice(from);
	return Math.min(
		spokenBeginning.test(tail) ? startOf(unfinishedWords, tail, from) : text.length,
		tail.includes('@') ? startOf(unfinishedSpaced, tail, from) : text.length,
	);
}

function startOf(unfinished: RegExp, tail: string, from: number): number {
	return from + (unfinished.exec(tail)?.index ?? tail.length);
}

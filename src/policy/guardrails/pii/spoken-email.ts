/** E-mail addresses with signs as words between spaces ("bob at example dot com"), or with spaces around `@`. */
import type { Span } from './email.ts';

/** Endings of domains that people spell out. "look at the dot on x" has none. */
const ending =
	'(?:com|org|net|edu|gov|info|biz|io|ai|app|dev|me|co|uk|de|fr|es|it|nl|be|ch|at|eu|us|ca|au|nz|ie|in|jp|cn|kr|ru|ua|br|mx|se|no|dk|fi|pl|pt|tr|za|il|sg)';
const local = '[a-z0-9][\\w.+-]{0,63}';
const label = '[a-z0-9][a-z0-9-]{0,62}';
/** "at the dot com boom" */
const noDomain = '(?!(?:the|an?|this|that|these|every|each|our|their|its|your|my|his|her|any|no|one) )';
const atWord = '(?: at | ?[([{<] ?(?:at|@) ?[)\\]}>] ?)';
const words = new RegExp(
	`(?<![\\w.+-])${local}${atWord}${noDomain}${label}(?: dot ${label}){0,3}? dot ${ending}(?: dot ${ending})?(?![\\w-])`,
	'gi',
);
const spaced = new RegExp(`(?<![\\w.+-])${local} {0,2}@ {0,2}(?:${label}\\.){1,4}${ending}(?![\\w-])`, 'gi');
/** Looked for first: most texts hold none, and a search without alternatives is fast. */
const spokenDot = /[dD][oO][tT] /;

const unfinishedDots = `(?: dot ${label}){0,4}(?: (?:d(?:o(?:t ?)?)?)?)?`;
const unfinishedWords = new RegExp(`(?<![\\w.+-])${local}(?: at?|(?: at |${atWord})(?:${label}${unfinishedDots})?)$`, 'i');
/** Without it `unfinishedWords` matches nothing. */
const spokenBeginning = / at?$| at |[)\]}>]/i;
const unfinishedSpaced = new RegExp(`(?<![\\w.+-])${local} {0,2}@ {0,2}[\\w.-]{0,128}$`, 'i');
/** No unfinished address is looked for further back. */
const tailLength = 160;

export function spokenEmailsIn(text: string): readonly Span[] {
	const found: Span[] = [];
	if (spokenDot.test(text)) {
		for (const { 0: address, index } of text.matchAll(words)) found.push({ start: index, end: index + address.length });
	}
	if (text.includes('@') && (text.includes(' @') || text.includes('@ '))) {
		for (const { 0: address, index } of text.matchAll(spaced)) found.push({ start: index, end: index + address.length });
	}
	return found;
}

/** @returns where an address begins that more text may complete; the length of the text where none does. */
export function spokenEmailStart(text: string, least: number): number {
	const from = Math.max(least, text.length - tailLength);
	const tail = text.slice(from);
	return Math.min(
		spokenBeginning.test(tail) ? startOf(unfinishedWords, tail, from) : text.length,
		tail.includes('@') ? startOf(unfinishedSpaced, tail, from) : text.length,
	);
}

function startOf(unfinished: RegExp, tail: string, from: number): number {
	return from + (unfinished.exec(tail)?.index ?? tail.length);
}

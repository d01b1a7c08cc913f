/**
 * Tokenises a value as SQL, one letter for each token, so that detection depends on the sequence and not on the spelling.
 *
 * - n number, s string, v variable, w name, f distinctive function before its bracket, g other function, N null or a truth value
 * - o comparison, r one by a pattern, i one that is an English word, m arithmetic, & logic
 * - ( ) , ; themselves, c comment to the end with nothing after it, k with something after it
 * - U union, S select, F from, W where or having, G group or order by, L limit, I insert into
 * - d delete, u update, z set, V values, D drop or truncate, R create and the like, T table and the like
 * - E exec and the like, C case, H when, t then, X into, j anything else
 */

import { wordsOf } from './signature.ts';
import names from './sql-functions.json' with { type: 'json' };

/** Names that are not natural words and are functions of few other languages: a call of one is a piece of SQL. */
export const distinctiveSqlFunctions = wordsOf(names.distinctiveSqlFunctions);
/** Names that are words too: calls have the bracket directly after them. */
export const wordSqlFunctions = wordsOf(names.wordSqlFunctions);
/** Names that are words, or functions of other languages: calls mean SQL only next to other tokens of it. */
const commonSqlFunctions = wordsOf(names.commonSqlFunctions);

const keywords: ReadonlyMap<string, string> = new Map(
	Object.entries({
		'&': 'and or xor',
		// Words that do not change the meaning of the tokens after them.
		'': 'not binary all any some distinct as sql_no_cache high_priority top',
		r: 'like rlike regexp ilike glob',
		i: 'between in is div mod isnull similar sounds match',
		U: 'union intersect except minus',
		S: 'select',
		F: 'from',
		W: 'where having',
		L: 'limit offset fetch',
		d: 'delete',
		u: 'update',
		z: 'set',
		V: 'values value',
		D: 'drop truncate',
		R: 'create alter rename grant revoke',
		T: 'table database schema view index function procedure trigger user role column tablespace',
		E: 'exec execute declare waitfor shutdown prepare call merge',
		C: 'case',
		H: 'when',
		t: 'then',
		X: 'into',
		N: 'null true false unknown',
	}).flatMap(([letter, words]) => words.split(' ').map((word) => [word, letter] as const)),
);

const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39;
const isWordCode = (code: number): boolean => (code >= 0x61 && code <= 0x7a) || isDigit(code) || code === 0x5f || code >= 0xa1;

/** @param quote the quote of the string that contains the value; empty for a value outside of quotes. */
export function sqlTokens(value: string, quote: '' | "'" | '"' | '`'): string {
	let tokens = '';
	let at = 0;
	if (quote !== '') {
		at = endOfString(value, 0, quote);
		tokens = 's';
	}
	while (at < value.length) {
		const code = value.charCodeAt(at);
		if (code === 0x20) at++;
		else if (isDigit(code) || (code === 0x2e && isDigit(value.charCodeAt(at + 1)))) {
			at = endOfNumber(value, at);
			tokens += 'n';
		} else if (isWordCode(code)) {
			const end = endOfName(value, at);
			tokens += wordToken(value, at, end);
			at = afterBy(value, end, tokens);
		} else {
			const [token, length] = punctuation(value, at, code);
			tokens += token;
			if (length < 0) return tokens;
			at += length;
		}
	}
	return tokens;
}

/** @returns the token and its length, which is negative if the rest is a comment. */
function punctuation(value: string, at: number, code: number): readonly [string, number] {
	const next = value.charCodeAt(at + 1);
	switch (value[at]) {
		case "'":
		case '"':
			return ['s', endOfString(value, at + 1, String.fromCharCode(code)) - at];
		case '`':
			return ['w', endOfString(value, at + 1, '`') - at];
		case '@':
			// The sign belongs to an e-mail address.
			if (at > 0 && isWordCode(value.charCodeAt(at - 1))) return ['j', 1];
			return ['v', endOfName(value, next === 0x40 ? at + 2 : at + 1) - at];
		case '#':
			// The sign begins a hashtag or a number in a text.
			if (isWordCode(next)) return ['j', 1];
			return [isRestEmpty(value, at + 1) ? 'c' : 'k', -1];
		case '-':
			if (next !== 0x2d) return ['m', 1];
			// The sign begins an option, for example of a search that excludes a word.
			if (value[at - 1] === ' ' && isWordCode(value.charCodeAt(at + 2))) return ['j', 2];
			return [isRestEmpty(value, at + 2) ? 'c' : 'k', -1];
		case '/':
			return next === 0x2a ? [isRestEmpty(value, at + 2) ? 'c' : 'k', -1] : ['m', 1];
		case '&':
		case '|':
			return next === code ? ['&', 2] : ['m', 1];
		case '=':
		case '<':
		case '>':
			return ['o', next === 0x3d || next === 0x3e ? (value.charCodeAt(at + 2) === 0x3e ? 3 : 2) : 1];
		case '!':
			return next === 0x3d ? ['o', 2] : ['', 1];
		case '~':
			return ['', 1];
		case '+':
		case '*':
		case '%':
		case '^':
			return ['m', 1];
		case '(':
		case ')':
		case ',':
		case ';':
			return [value[at] ?? '', 1];
		default:
			return ['j', 1];
	}
}

function wordToken(value: string, at: number, end: number): string {
	const word = value.slice(at, end);
	const isCall = value[end] === '(' || (value[end] === ' ' && value[end + 1] === '(');
	if (isCall && (distinctiveSqlFunctions.has(word) || wordSqlFunctions.has(word))) return 'f';
	const keyword = keywords.get(word);
	if (keyword !== undefined) return keyword;
	if (word === 'insert' || word === 'replace') return /^ (?:ignore )?into\b/.test(value.slice(end, end + 13)) ? 'I' : 'w';
	if (word === 'group' || word === 'order') return value.startsWith(' by', end) && !isWordCode(value.charCodeAt(end + 3)) ? 'G' : 'w';
	return value[end] === '(' && commonSqlFunctions.has(word) ? 'g' : 'w';
}

/** Skips `by` and `into`, which belong to the word before them. */
function afterBy(value: string, end: number, tokens: string): number {
	const last = tokens[tokens.length - 1];
	if (last === 'G') return value.startsWith(' by', end) ? end + 3 : end;
	if (last !== 'I') return end;
	const into = value.indexOf('into', end);
	return into === -1 ? end : into + 4;
}

function endOfString(value: string, from: number, quote: string): number {
	let at = from;
	for (;;) {
		const end = value.indexOf(quote, at);
		if (end === -1) return value.length;
		if (value[end + 1] === quote) at = end + 2;
		else if (value[end - 1] === '\\' && end > from) at = end + 1;
		else return end + 1;
	}
}

function endOfNumber(value: string, from: number): number {
	let at = from;
	if (value[at] === '0' && value[at + 1] === 'x') at += 2;
	while (at < value.length && (isWordCode(value.charCodeAt(at)) || value.charCodeAt(at) === 0x2e)) at++;
	return at;
}

/** Names can have parts with dots between them, and a dollar sign. */
function endOfName(value: string, from: number): number {
	let at = from;
	while (at < value.length) {
		const code = value.charCodeAt(at);
		if (!isWordCode(code) && code !== 0x2e && code !== 0x24) break;
		at++;
	}
	return at === from ? Math.min(from + 1, value.length) : at;
}

function isRestEmpty(value: string, from: number): boolean {
	for (let at = from; at < value.length; at++) {
		const code = value.charCodeAt(at);
		if (code !== 0x20 && code !== 0x2d) return false;
	}
	return true;
}

import { type PlainText, plainDigits, unescapedDigits } from '../folding/plain-digits.ts';
import { settledEnd } from '../folding/read-unit.ts';
import type { Span, SpanDetector } from '../guardrail.ts';
import { ibanEnd } from './account-numbers.ts';
import { addressSign, emailAround, spokenEmailsIn } from './email.ts';
import { findNumbers } from './find-numbers.ts';
import { defangedIpsIn, isIpv6, maxIpLength } from './ip-spellings.ts';
import { livePiiStart, maxPiiLength } from './live-start.ts';
import { type DigitGroup, isDigitCode, readNumberRun } from './number-run.ts';
import type { PiiKind, PiiMatch } from './pii-kind.ts';
import { awsSecretsIn, keyAround, keySign, labelledKeysIn } from './secret-key.ts';
import { isAlphanumeric, isGluedAfter, isGluedBefore } from './signs.ts';
import { findSpreadNumbers, maxGapLength } from './spread-numbers.ts';

/** Maximum undecided text. Overlapping matches merge, and without a limit a chain of addresses would wait for its end. */
const maxBuffered = 2 * maxPiiLength;

/** Characters that begin an escape, and the first half of a surrogate pair. */
const canChange = /[%&\\\ud800-\udbff]/;

/** Creates a detector that reads texts as written, and again with their escapes resolved. */
export function createPiiDetector(wanted: ReadonlySet<PiiKind>): SpanDetector {
	const read = ({ text, positions }: PlainText, isOpen: boolean, spans: Span[]): number => {
		const matches = findPii(text, wanted);
		for (const { kind, start, end } of matches) {
			spans.push({ policy: 'pii', category: kind, start: positions?.[start] ?? start, end: positions?.[end] ?? end });
		}
		const live = isOpen ? beforeMatch(matches, livePiiStart(text), text.length - maxBuffered) : text.length;
		return positions?.[live] ?? live;
	};
	return {
		find(text, isOpen, spans) {
			const live = read(plainDigits(text), isOpen, spans);
			if (!canChange.test(text)) return live;
			// An incomplete escape has no meaning yet.
			const settled = isOpen ? text.slice(0, settledEnd(text)) : text;
			const unescaped = unescapedDigits(settled) ?? (settled.length < text.length ? plainDigits(settled) : undefined);
			return unescaped === undefined ? live : Math.min(live, read(unescaped, isOpen, spans));
		},
	};
}

/** @returns the start of the match that continues in the undecided text, at least `min`. */
function beforeMatch(matches: readonly PiiMatch[], live: number, min: number): number {
	return matches.find(({ start, end }) => start < live && end > live && start >= min)?.start ?? live;
}

const colon = 0x3a;
const addressSigns = new Set(Array.from('@([{<', (sign) => sign.charCodeAt(0)));
/** Matches one character: a sign of an address, a colon, or the rare character of a key's prefix, each in a fitting context. */
const distinguishing = new RegExp(`${addressSign}|:(?=[0-9a-fA-F:.])|${keySign}`, 'g');
const anotherDigit = `[^0-9A-Za-z]{0,${maxGapLength}}\\d`;
/**
 * Matches the first of several digits near each other, or the first digit of an account number. Seven digits are the minimum of a detected
 * number; an IP address can have fewer.
 */
const distinguishingDigit = new RegExp(
	`\\d(?:(?=(?:${anotherDigit}){6}|(?:${anotherDigit}){0,2}(?:\\.\\d{1,3}){3})|(?<=(?:\\b|_)(?:[iI][bB][aA][nN])?[A-Za-z]{2}\\d)(?=\\d))`,
	'g',
);

/**
 * Finds personal data with expressions that skip prose faster than a loop over characters.
 * @param text result of `plainDigits`. @returns matches in order, without overlaps.
 */
export function findPii(text: string, wanted: ReadonlySet<PiiKind>): readonly PiiMatch[] {
	const matches: PiiMatch[] = [];
	const groups = addNumbers(text, wanted, matches);
	addSigned(text, wanted, matches);
	if (wanted.has('email')) for (const span of spokenEmailsIn(text)) matches.push({ kind: 'email', ...span });
	if (wanted.has('ip')) for (const span of defangedIpsIn(text)) matches.push({ kind: 'ip', ...span });
	if (wanted.has('aws_key')) for (const secret of awsSecretsIn(text)) matches.push({ kind: 'aws_key', ...secret });
	if (wanted.has('api_key')) for (const key of labelledKeysIn(text)) matches.push({ kind: 'api_key', ...key });
	return withoutOverlaps([...findSpreadNumbers(text, groups, wanted), ...matches]);
}

/** @returns all digits that can belong to a detected number, with those near them. */
function addNumbers(text: string, wanted: ReadonlySet<PiiKind>, matches: PiiMatch[]): readonly DigitGroup[] {
	const groups: DigitGroup[] = [];
	distinguishingDigit.lastIndex = 0;
	while (distinguishingDigit.test(text)) {
		let end = distinguishingDigit.lastIndex - 1;
		if (wanted.has('iban')) addIban(text, end - 2, matches);
		for (let next = end; next !== -1; next = nearDigit(text, end)) {
			const run = readNumberRun(text, next);
			findNumbers(text, run, wanted, matches);
			for (const group of run.groups) groups.push(group);
			end = run.end;
		}
		distinguishingDigit.lastIndex = end;
	}
	return groups;
}

/** @returns the next digit that can belong to a number with the one before `end`; -1 for none. */
function nearDigit(text: string, end: number): number {
	for (let at = end; at <= end + maxGapLength && at < text.length; at++) {
		const code = text.charCodeAt(at);
		if (isAlphanumeric(code)) return isDigitCode(code) ? at : -1;
	}
	return -1;
}

function addIban(text: string, start: number, matches: PiiMatch[]): void {
	const isGlued = isGluedBefore(text, start) && !/(?:^|\W)iban$/i.test(text.slice(Math.max(0, start - 5), start));
	if (start < 0 || isGlued || !isDigitCode(text.charCodeAt(start + 3))) return;
	const end = ibanEnd(text, start);
	if (end !== -1) matches.push({ kind: 'iban', start, end });
}

/** Adds matches that begin at a telling sign or letter. */
function addSigned(text: string, wanted: ReadonlySet<PiiKind>, matches: PiiMatch[]): void {
	const hasKeys = wanted.has('aws_key') || wanted.has('api_key');
	let addressEnd = 0;
	distinguishing.lastIndex = 0;
	while (distinguishing.test(text)) {
		const where = distinguishing.lastIndex - 1;
		const code = text.charCodeAt(where);
		if (code === colon) {
			if (wanted.has('ip') && where >= addressEnd) addressEnd = addIpv6(text, where, matches);
		} else if (addressSigns.has(code)) {
			const span = wanted.has('email') ? emailAround(text, where) : undefined;
			if (span !== undefined) matches.push({ kind: 'email', ...span });
		} else if (hasKeys) {
			addKey(text, where, wanted, matches);
		}
	}
}

function addKey(text: string, where: number, wanted: ReadonlySet<PiiKind>, matches: PiiMatch[]): void {
	const key = keyAround(text, where);
	if (key !== undefined && wanted.has(key.kind)) matches.push(key);
}

/** @returns the end of the candidate address. */
function addIpv6(text: string, at: number, matches: PiiMatch[]): number {
	let start = at;
	while (start > 0 && at - start < maxIpLength && isAddressCode(text.charCodeAt(start - 1))) start--;
	let end = at;
	while (end < text.length && end - start <= maxIpLength && isAddressCode(text.charCodeAt(end))) end++;
	const next = end;
	// A label can end in a letter that is valid in an address: "NOTE:2001:db8::1".
	if (isGluedBefore(text, start)) start = text.indexOf(':', start) + 1;
	while (text.charAt(end - 1) === '.' || (text.charAt(end - 1) === ':' && text.charAt(end - 2) !== ':')) end--;
	const isWhole = !isGluedBefore(text, start) && !isGluedAfter(text, next);
	if (isWhole && end > at && isIpv6(text.slice(start, end))) matches.push({ kind: 'ip', start, end });
	return next;
}

function isAddressCode(code: number): boolean {
	return isDigitCode(code) || code === 0x3a || code === 0x2e || ((code | 0x20) >= 0x61 && (code | 0x20) <= 0x66);
}

/** Merges overlapping matches, with the kind of the one that begins first, is longer, or comes first. */
function withoutOverlaps(matches: readonly PiiMatch[]): readonly PiiMatch[] {
	if (matches.length < 2) return matches;
	const retained: PiiMatch[] = [];
	for (const match of matches.toSorted((one, other) => one.start - other.start || other.end - one.end)) {
		const before = retained.at(-1);
		if (before === undefined || match.start >= before.end) retained.push(match);
		else if (match.end > before.end) retained[retained.length - 1] = { ...before, end: match.end };
	}
	return retained;
}

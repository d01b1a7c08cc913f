/** Finds personal data in one pass over a text whose digits are plain. */
import { emailAround } from './email.ts';
import { findNumbers } from './find-numbers.ts';
import { ibanEnd } from './iban.ts';
import { isIpv6, longestIp } from './ip-address.ts';
import { type DigitGroup, isDigitCode, readNumberRun } from './number-run.ts';
import type { PiiKind, PiiMatch } from './pii-kind.ts';
import { awsSecretsIn, firstsOfKeys, keyAt } from './secret-key.ts';
import { isAlphanumeric } from './signs.ts';
import { findSpreadNumbers } from './spread-numbers.ts';

const plain = 0;
const digit = 1;
const letter = 2;
const atSign = 3;
const colon = 4;
const hyphen = 5;
const bracket = 6;
const kinds = new Uint8Array(128);
for (let code = 0; code < 10; code++) kinds[0x30 + code] = digit;
for (const first of [0x41, 0x61]) kinds.fill(letter, first, first + 26);
kinds[0x40] = atSign;
kinds[0x3a] = colon;
kinds[0x2d] = hyphen;
for (const opening of [0x28, 0x5b, 0x7b, 0x3c]) kinds[opening] = bracket;
const mayBeginKey = new Uint8Array(128);
for (const first of firstsOfKeys) mayBeginKey[first] = 1;
const underscore = 0x5f;

/** @param text as `plainDigits` makes it. @returns matches in order, none overlapping another. */
export function findPii(text: string, wanted: ReadonlySet<PiiKind>): readonly PiiMatch[] {
	const matches: PiiMatch[] = [];
	const groups: DigitGroup[] = [];
	const hasKeys = wanted.has('aws_key') || wanted.has('api_key');
	/** Whether what stands before is a letter, a digit or an underscore. */
	let isInside = false;
	let addressEnd = 0;
	for (let index = 0; index < text.length; index++) {
		const code = text.charCodeAt(index);
		const kind = code < 128 ? (kinds[code] as number) : plain;
		if (kind === letter) {
			if (!isInside) addWord(text, index, wanted, hasKeys, matches);
			isInside = true;
		} else if (kind === digit) {
			const run = readNumberRun(text, index);
			findNumbers(text, run, wanted, matches);
			for (const group of run.groups) groups.push(group);
			index = run.end - 1;
			isInside = true;
		} else {
			if ((kind === atSign || kind === bracket) && wanted.has('email')) {
				const span = emailAround(text, index);
				if (span !== undefined) matches.push({ kind: 'email', ...span });
			} else if (kind === colon && wanted.has('ip') && index >= addressEnd) {
				addressEnd = addIpv6(text, index, matches);
			} else if (kind === hyphen && hasKeys && text.charCodeAt(index + 1) === 0x2d) {
				addKey(text, index, wanted, matches);
			}
			isInside = code === underscore;
		}
	}
	if (wanted.has('aws_key')) for (const secret of awsSecretsIn(text)) matches.push({ kind: 'aws_key', ...secret });
	return withoutOverlaps([...findSpreadNumbers(text, groups, wanted), ...matches]);
}

function addWord(text: string, start: number, wanted: ReadonlySet<PiiKind>, hasKeys: boolean, matches: PiiMatch[]): void {
	if (hasKeys && mayBeginKey[text.charCodeAt(start)] === 1) addKey(text, start, wanted, matches);
	if (!isDigitCode(text.charCodeAt(start + 2)) || !isDigitCode(text.charCodeAt(start + 3)) || !wanted.has('iban')) return;
	const end = ibanEnd(text, start);
	if (end !== -1) matches.push({ kind: 'iban', start, end });
}

function addKey(text: string, start: number, wanted: ReadonlySet<PiiKind>, matches: PiiMatch[]): void {
	const key = keyAt(text, start);
	if (key !== undefined && wanted.has(key.kind)) matches.push({ kind: key.kind, start, end: key.end });
}

/** @returns where what might have been an address ends. */
function addIpv6(text: string, at: number, matches: PiiMatch[]): number {
	let start = at;
	while (start > 0 && at - start < longestIp && isAddressCode(text.charCodeAt(start - 1))) start--;
	let end = at;
	while (end < text.length && end - start <= longestIp && isAddressCode(text.charCodeAt(end))) end++;
	const next = end;
	while (text.charAt(end - 1) === '.' || (text.charAt(end - 1) === ':' && text.charAt(end - 2) !== ':')) end--;
	const isWhole = !isNameCode(text.charCodeAt(start - 1)) && !isNameCode(text.charCodeAt(next));
	if (isWhole && end > at && isIpv6(text.slice(start, end))) matches.push({ kind: 'ip', start, end });
	return next;
}

function isAddressCode(code: number): boolean {
	return isDigitCode(code) || code === 0x3a || code === 0x2e || ((code | 0x20) >= 0x61 && (code | 0x20) <= 0x66);
}

function isNameCode(code: number): boolean {
	return isAlphanumeric(code) || code === underscore;
}

/** What overlaps becomes one match, of the kind of the one that begins first, is longer, or comes first. */
function withoutOverlaps(matches: readonly PiiMatch[]): readonly PiiMatch[] {
	if (matches.length < 2) return matches;
	const kept: PiiMatch[] = [];
	for (const match of matches.toSorted((one, other) => one.start - other.start || other.end - one.end)) {
		const before = kept.at(-1);
		if (before === undefined || match.start >= before.end) kept.push(match);
		else if (match.end > before.end) kept[kept.length - 1] = { ...before, end: match.end };
	}
	return kept;
}

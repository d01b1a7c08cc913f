/** Classifies the digits of one run: cards, social security numbers, IP addresses, telephone numbers, in this order. */
import { announcesCard, isCard, isSsn, maxCardLength, minCardLength } from './account-numbers.ts';
import { isIpv4 } from './ip-spellings.ts';
import { contextAfter, contextBefore, extensionEnd, isLabelledSsn } from './labels.ts';
import type { DigitGroup, NumberRun } from './number-run.ts';
import { announcesSomethingElse, isPhone, maxPhoneDigits, minPhoneDigits } from './phone.ts';
import type { PiiKind, PiiMatch } from './pii-kind.ts';
import { isAlphanumeric, isGluedAfter, isGluedBefore } from './signs.ts';

/** Context in which four numbers with dots are a version or a section of a document. */
const aboutVersion =
	/(?:\b(?:v|ver\.?|versions?|releases?|build(?: number)?|firmware|driver|(?:sub)?(?:sections?|sec\.|clauses?|paragraphs?|chapters?)|para\.|articles?|appendix|figures?|fig\.|tables?)|§)[ :]{0,2}$/i;
const maxPhoneGroups = 7;
/** Length of `0011`, the prefix of Australia. */
const maxPrefixLength = 4;
const maxSinglesBefore = 8;
/** Minimum length of a telephone number, and of an IP address with its dots. */
const minNumberLength = 7;

export function findNumbers(text: string, run: NumberRun, wanted: ReadonlySet<PiiKind>, matches: PiiMatch[]): void {
	const { groups } = run;
	if (run.end - (groups[0]?.start ?? 0) < minNumberLength) return;
	for (let first = 0; first < groups.length; ) {
		const found = findAt(text, groups, first, wanted);
		if (found === undefined) {
			first++;
			continue;
		}
		const [kind, last] = found;
		const firstDigit = groups[first]?.start ?? 0;
		const end = groups[last]?.end ?? 0;
		const start = kind === 'phone' ? phoneStart(text, firstDigit, end) : firstDigit;
		matches.push({ kind, start, end: kind === 'phone' ? extensionEnd(text, end) : end });
		first = last + 1;
	}
}

type Found = readonly [kind: PiiKind, lastGroup: number];

function findAt(text: string, groups: readonly DigitGroup[], first: number, wanted: ReadonlySet<PiiKind>): Found | undefined {
	const group = groups[first];
	if (group === undefined || (first === 0 && isAlphanumeric(text.charCodeAt(group.start - 1)))) return undefined;
	if (first === 0 && isGluedBefore(text, group.start)) return wanted.has('ip') ? ipv4At(text, groups, first) : undefined;
	const card = wanted.has('card') ? cardAt(text, groups, first) : undefined;
	return (
		(card !== undefined && isPhoneWithPlus(text, groups, first, card) ? undefined : card) ??
		(wanted.has('ssn') ? ssnAt(text, groups, first) : undefined) ??
		(wanted.has('ip') ? ipv4At(text, groups, first) : undefined) ??
		(wanted.has('phone') ? phoneAt(text, groups, first) : undefined)
	);
}

/**
 * Decides between a telephone number after `+`, which can pass the card check by chance, and a card. A card that is longer than the
 * telephone number stays a card.
 */
function isPhoneWithPlus(text: string, groups: readonly DigitGroup[], first: number, [, lastOfCard]: Found): boolean {
	if (text.charAt((groups[first]?.start ?? 0) - 1) !== '+') return false;
	const phone = phoneAt(text, groups, first);
	return phone !== undefined && phone[1] >= lastOfCard;
}

function cardAt(text: string, groups: readonly DigitGroup[], first: number): Found | undefined {
	if (!isFree(groups[first]) || isDeepInSingles(groups, first)) return undefined;
	let digits = '';
	let separator: string | undefined;
	let best: Found | undefined;
	let announced: boolean | undefined;
	const isAnnounced = (): boolean => {
		announced ??= announcesCard(contextBefore(text, groups[first]?.start ?? 0));
		return announced;
	};
	for (let last = first; last < groups.length && digits.length < maxCardLength; last++) {
		const group = groups[last] as DigitGroup;
		if (group.end - group.start > maxCardLength) return best;
		if (last > first) {
			separator ??= group.separator;
			if (group.separator.length !== 1 || group.separator !== separator || !/[ \-.]/.test(separator)) return best;
		}
		digits += text.slice(group.start, group.end);
		const isWhole = last === groups.length - 1 ? !isGluedAfter(text, group.end) : isFree(groups[last + 1]);
		if (digits.length < minCardLength || digits.length > maxCardLength || !isWhole) continue;
		if (isCard(digits, isAnnounced) && isCardLayout(groups, first, last)) best = ['card', last];
	}
	return best;
}

/** Limits the search in a number written digit by digit to its beginning, because it can have thousands of digits. */
function isDeepInSingles(groups: readonly DigitGroup[], first: number): boolean {
	if (first < maxSinglesBefore) return false;
	for (let index = first - maxSinglesBefore; index <= first; index++) if (sizeOf(groups[index] as DigitGroup) > 1) return false;
	return true;
}

/** Checks that no decimal point, hyphen or slash joins the group to the previous one; "1. " of a list does not. */
function isFree(group: DigitGroup | undefined): boolean {
	if (group === undefined || group.separator === '') return true;
	const first = group.separator.charCodeAt(0);
	return first === 0x20 || first === 0xa0 || first === 0x28 || first === 0x29 || /^\. +\(?$/.test(group.separator);
}

/** Accepts one piece, single digits, or groups of which the first has four digits. */
function isCardLayout(groups: readonly DigitGroup[], first: number, last: number): boolean {
	if (first === last) return true;
	const sizes = groups.slice(first, last + 1).map(({ start, end }) => end - start);
	if (sizes.every((size) => size === 1) || sizes.slice(0, -1).every((size) => size === 2)) return true;
	return sizes[0] === 4 && sizes.slice(0, -1).every((size) => size > 1);
}

function ssnAt(text: string, groups: readonly DigitGroup[], first: number): Found | undefined {
	const area = groups[first];
	const group = groups[first + 1];
	const serial = groups[first + 2];
	if (area === undefined) return undefined;
	const after = groups[first + 3];
	if (sizeOf(area) === 9 && isFree(area) && isFree(groups[first + 1]) && !isGluedAfter(text, area.end)) {
		return isSsn(text.slice(area.start, area.end)) && isLabelledSsn(text, area.start, area.end) ? ['ssn', first] : undefined;
	}
	if (group === undefined || serial === undefined || sizeOf(area) !== 3 || sizeOf(group) !== 2 || sizeOf(serial) !== 4) return undefined;
	if (group.separator !== serial.separator || !isFree(area) || !isFree(after) || isGluedAfter(text, serial.end)) return undefined;
	const isCommon = group.separator === '-';
	const isLikely = isCommon || (/^[ .]$/.test(group.separator) && isLabelledSsn(text, area.start, serial.end));
	const digits = [area, group, serial].map(({ start, end }) => text.slice(start, end)).join('');
	return isLikely && isSsn(digits) ? ['ssn', first + 2] : undefined;
}

function ipv4At(text: string, groups: readonly DigitGroup[], first: number): Found | undefined {
	const start = groups[first];
	const second = groups[first + 1];
	const third = groups[first + 2];
	const fourth = groups[first + 3];
	if (start === undefined || second === undefined || third === undefined || fourth === undefined) return undefined;
	if (start.separator.endsWith('.') || second.separator !== '.' || third.separator !== '.' || fourth.separator !== '.') return undefined;
	if (groups[first + 4]?.separator === '.' || isGluedAfter(text, fourth.end)) return undefined;
	if (!isIpv4(text.slice(start.start, fourth.end)) || aboutVersion.test(contextBefore(text, start.start))) return undefined;
	return ['ip', first + 3];
}

function phoneAt(text: string, groups: readonly DigitGroup[], first: number): Found | undefined {
	const start = groups[first]?.start ?? 0;
	if (!isFree(groups[first])) return undefined;
	// Digits precede a later group of the run, and announce nothing.
	const context = contextBefore(text, groups[0]?.start ?? start).replace(/[+(]+$/, '');
	if (first > 0 && announcesSomethingElse(context)) return undefined;
	const maxDigits = text.charAt(start) === '0' ? maxPhoneDigits + maxPrefixLength : maxPhoneDigits;
	let digits = 0;
	let best: Found | undefined;
	for (let last = first; last < groups.length && last - first < maxPhoneGroups; last++) {
		const group = groups[last] as DigitGroup;
		digits += sizeOf(group);
		if (digits > maxDigits) return best;
		if (digits < minPhoneDigits) continue;
		const isLast = last === groups.length - 1;
		const isWhole = isLast ? !isGluedAfter(text, group.end) || extensionEnd(text, group.end) > group.end : isFree(groups[last + 1]);
		if (!isWhole) continue;
		const sizes = groups.slice(first, last + 1).map(sizeOf);
		if (
			isPhone(
				text.slice(phoneStart(text, start, group.end), group.end),
				sizes,
				first === 0 ? context : '',
				isLast ? contextAfter(text, group.end) : '',
			)
		) {
			best = ['phone', last];
		}
	}
	return best;
}

/** Includes the plus sign and the parenthesis in the number, except a parenthesis that is closed after it. */
function phoneStart(text: string, start: number, end: number): number {
	let at = start;
	while (start - at < 3 && /[+(]/.test(text.charAt(at - 1))) at--;
	let open = 0;
	for (let index = at; index < end; index++) {
		if (text.charCodeAt(index) === 0x28) open++;
		else if (text.charCodeAt(index) === 0x29) open--;
	}
	for (; open > 0 && text.charCodeAt(at) === 0x28; open--) at++;
	return at;
}

function sizeOf({ start, end }: DigitGroup): number {
	return end - start;
}

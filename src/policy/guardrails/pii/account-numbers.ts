/** Detects numbers assigned by banks and authorities: payment cards, accounts (IBAN), and US social security numbers. */
import { isAlphanumeric, isSignAt } from './signs.ts';

/** Card number ranges by first digits, with the lengths in use. */
const ranges: readonly (readonly [from: string, to: string, lengths: readonly number[]])[] = [
	['4', '4', [13, 16, 19]],
	['51', '55', [16]],
	['2221', '2720', [16]],
	['34', '34', [15]],
	['37', '37', [15]],
	['300', '305', [14, 16, 17, 18, 19]],
	['3095', '3095', [14, 16, 17, 18, 19]],
	['36', '36', [14, 15, 16, 17, 18, 19]],
	['38', '39', [14, 16, 17, 18, 19]],
	['1800', '1800', [15]],
	['2131', '2131', [15]],
	['35', '35', [16, 17, 18, 19]],
	['6011', '6011', [16, 17, 18, 19]],
	['62', '62', [16, 17, 18, 19]],
	['64', '65', [16, 17, 18, 19]],
	['81', '82', [16, 17, 18, 19]],
	['2200', '2204', [16, 17, 18, 19]],
	['9792', '9792', [16]],
	['50', '50', [12, 13, 14, 15, 16, 17, 18, 19]],
	['56', '58', [12, 13, 14, 15, 16, 17, 18, 19]],
	['60', '69', [12, 13, 14, 15, 16, 17, 18, 19]],
];

const rangesByDigit = Array.from({ length: 10 }, (_, digit) =>
	ranges.filter(([from, to]) => Number(from[0]) <= digit && digit <= Number(to[0])),
);

export const minCardLength = 12;
export const maxCardLength = 19;

/** Words that announce a card number whose range is not listed. */
const aboutCard = /\b(?:card|visa|mastercard|maestro|amex|cc)\b\W*(?:\w+\W+){0,3}$/i;

/** @param isAnnounced tells whether the text before the number mentions a card. */
export function isCard(digits: string, isAnnounced: () => boolean): boolean {
	return hasCheckDigit(digits) && (isOfKnownRange(digits) || isAnnounced());
}

export function isListedCard(digits: string): boolean {
	return hasCheckDigit(digits) && isOfKnownRange(digits);
}

function isOfKnownRange(digits: string): boolean {
	const likely = rangesByDigit[digits.charCodeAt(0) - 0x30] ?? [];
	return likely.some((range) => isIn(digits, range));
}

/** @param context text before a number. */
export function announcesCard(context: string): boolean {
	return aboutCard.test(context);
}

function isIn(digits: string, [from, to, lengths]: (typeof ranges)[number]): boolean {
	const prefix = digits.slice(0, from.length);
	return prefix >= from && prefix <= to && lengths.includes(digits.length);
}

/** Checks the digit of ISO/IEC 7812-1 annex B. */
function hasCheckDigit(digits: string): boolean {
	let sum = 0;
	for (let index = 0; index < digits.length; index++) {
		const digit = digits.charCodeAt(digits.length - 1 - index) - 0x30;
		const weighed = index % 2 === 1 ? digit * 2 : digit;
		sum += weighed > 9 ? weighed - 9 : weighed;
	}
	return sum % 10 === 0;
}

/** Checks the format of a US social security number, which has no check digit. */
export function isSsn(digits: string): boolean {
	return /^(?!000|666|9)\d{3}(?!00)\d{2}(?!0000)\d{4}$/.test(digits);
}

/** Lengths of international bank account numbers (ISO 13616) by country. */
const ibanLengths: ReadonlyMap<string, number> = new Map(
	(
		'AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 ES24 FI18 FK18 ' +
		'FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 ' +
		'LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 ' +
		'SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30'
	)
		.split(' ')
		.map((entry) => [entry.slice(0, 2), Number(entry.slice(2))]),
);

/** Maximum length of signs and white space between the groups of an IBAN. */
const maxGapLength = 8;
const groupSize = 4;

/** @returns the end of the number that begins at `start`, without separators or in separated groups; -1 for none. */
export function ibanEnd(text: string, start: number): number {
	const length = ibanLengths.get(text.slice(start, start + 2).toUpperCase());
	if (length === undefined) return -1;
	let plain = '';
	let at = start;
	for (let gap = 0; plain.length < length; at++) {
		if (isAlphanumeric(text.charCodeAt(at))) {
			// Groups of another size than people use could be words.
			if (gap > 0 && plain.length % groupSize !== 0 && !/^..\d*$/.test(plain)) return -1;
			plain += text.charAt(at);
			gap = 0;
		} else if (++gap > maxGapLength || at >= text.length || !isSignAt(text, at)) {
			return -1;
		}
	}
	if (plain.length < length || isAlphanumeric(text.charCodeAt(at))) return -1;
	return ibanRemainder(plain.toUpperCase()) === 1 ? at : -1;
}

/** Returns the number modulo 97, after its first four characters move to the end and letters become 10 to 35. */
function ibanRemainder(iban: string): number {
	let rest = 0;
	for (const character of iban.slice(4) + iban.slice(0, 4)) {
		const value = Number.parseInt(character, 36);
		rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
	}
	return rest;
}

/** Numbers of payment cards: a known range, a length that it has, and the check digit. */

/** First digits as a range, and the lengths in use. */
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

export const shortestCard = 12;
export const longestCard = 19;

/** Before numbers of ranges that are not listed. */
const aboutCard = /\b(?:card|visa|mastercard|maestro|amex|cc)\b\W*(?:\w+\W+){0,3}$/i;

/** @param isAnnounced whether what stands before the number speaks of a card. */
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

/** @param context what stands before a number. */
export function announcesCard(context: string): boolean {
	return aboutCard.test(context);
}

function isIn(digits: string, [from, to, lengths]: (typeof ranges)[number]): boolean {
	const prefix = digits.slice(0, from.length);
	return prefix >= from && prefix <= to && lengths.includes(digits.length);
}

/** ISO/IEC 7812-1 annex B. */
function hasCheckDigit(digits: string): boolean {
	let sum = 0;
	for (let index = 0; index < digits.length; index++) {
		const digit = digits.charCodeAt(digits.length - 1 - index) - 0x30;
		const weighed = index % 2 === 1 ? digit * 2 : digit;
		sum += weighed > 9 ? weighed - 9 : weighed;
	}
	return sum % 10 === 0;
}

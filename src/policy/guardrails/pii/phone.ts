/** Telephone numbers in the forms of many countries. Short local ones are taken for numbers only after a word that says so. */
import { type CountryCode, isPossiblePhoneNumber, isValidPhoneNumber } from 'libphonenumber-js';
import { saysPhone } from './labels.ts';

export const mostPhoneDigits = 15;
export const leastPhoneDigits = 7;
const aboutSomethingElse =
	/(?:\blicen[cs]e|\bpassport|\border|\binvoice|\bid\b|\bticket|\bcase\b|\bversion|\bisbn|\bzip\b|\bpage|\baccount|\bref\b|\bsku\b|\bserial|\btracking|\bparcel|\brma\b|\bpart no|\bpolicy no|\bmodel|#)[^\d]{0,12}$/iu;
const date = /^(?:(?:19|20)\d{2}[-./ ](?:0?[1-9]|1[0-2])[-./ ]\d{1,2}|\d{1,2}[-./ ]\d{1,2}[-./ ](?:19|20)\d{2})(?:\D|$)/;
/** Area code and exchange begin with 2 to 9. Which area codes are assigned changes, so that this is not asked. */
const northAmerican = /^(?:\+?1[ .-]?)?(?:\([2-9]\d{2}\)[ .-]?|[2-9]\d{2}[./-])[2-9]\d{2}[ .-]\d{4}$/;
/** Three figures with spaces between them are most often a row of figures. */
const northAmericanWithSpaces = /^(?:1 )?[2-9]\d{2} [2-9]\d{2} \d{4}$/;
/** What people dial in place of `+`: from most countries, from North America, from Australia. */
const internationalPrefix = /^(?:\(?(?:0011|011|00)\)?)[ .-]?(?=[1-9])/;
const minPossibleDigits = 8;
/** An area code and the rest: "030 1234567", "030/1234567". */
const areaAndRest = /^(?:\(0\d{1,4}\) ?|0\d{1,4}[ /-])\d{5,8}$/;
/** Countries whose numbers are written with a zero in front. */
const trunkZero: readonly CountryCode[] = [
	'GB',
	'FR',
	'DE',
	'IT',
	'NL',
	'BE',
	'SE',
	'CH',
	'AT',
	'AU',
	'JP',
	'FI',
	'IE',
	'IN',
	'ZA',
	'NZ',
	'TR',
	'PL',
];
const remembered = new Map<string, boolean>();
const mostRemembered = 1000;

/**
 * @param written as it stands, with what leads it.
 * @param sizes of its groups of digits.
 * @param before what stands before it.
 * @param after what stands after it.
 */
export function isPhone(written: string, sizes: readonly number[], before: string, after: string): boolean {
	const digits = sizes.reduce((sum, size) => sum + size, 0);
	if (digits < leastPhoneDigits || date.test(written)) return false;
	if (written.startsWith('+') || written.startsWith('(+')) {
		return digits >= minPossibleDigits ? isPossible(written) : isValid(written, undefined);
	}
	if (announcesSomethingElse(before)) return false;
	const afterPrefix = written.replace(internationalPrefix, '+');
	if (digits > mostPhoneDigits && !afterPrefix.startsWith('+')) return false;
	const isLabelled = saysPhone(before, after);
	if (isLabelled && sizes.length < 7 && (sizes.length > 3 || !/\.\d{1,2}$/.test(written)) && !written.includes('/')) return true;
	if (afterPrefix.startsWith('+')) return isLabelled || sizes.length > 2 ? isPossible(afterPrefix) : isValid(afterPrefix, undefined);
	if (northAmerican.test(written)) return true;
	if (northAmericanWithSpaces.test(written)) return isValid(written, ['US']);
	if (areaAndRest.test(written)) return isValid(written, trunkZero);
	if (written.includes('/')) return false;
	const isGrouped = sizes.length >= 3 && sizes.length <= 5 && Math.max(...sizes) <= 5;
	return isGrouped && /^\(?0[1-9]/.test(written) && digits >= 9 && digits <= 11 && isValid(written, trunkZero);
}

/** @param before what stands before a number: an order, a version. */
export function announcesSomethingElse(before: string): boolean {
	return aboutSomethingElse.test(before);
}

/** A number that its country could assign, by its length. */
function isPossible(written: string): boolean {
	const plain = `+${written.replaceAll('(0)', '').replaceAll(/\D/g, '')}`;
	return remember(plain, () => isPossiblePhoneNumber(plain));
}

function isValid(written: string, countries: readonly CountryCode[] | undefined): boolean {
	return remember(`${countries?.length ?? 0} ${written}`, () =>
		countries === undefined ? isValidPhoneNumber(written) : countries.some((country) => isValidPhoneNumber(written, country)),
	);
}

function remember(key: string, judge: () => boolean): boolean {
	const known = remembered.get(key);
	if (known !== undefined) return known;
	const judged = judge();
	if (remembered.size >= mostRemembered) remembered.clear();
	remembered.set(key, judged);
	return judged;
}

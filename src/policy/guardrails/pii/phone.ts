/** Detects telephone numbers in the formats of many countries. Short local numbers need a label before or after them. */
import { type CountryCode, isPossiblePhoneNumber, isValidPhoneNumber } from 'libphonenumber-js';
import { saysPhone } from './labels.ts';

export const maxPhoneDigits = 15;
export const minPhoneDigits = 7;
const aboutSomethingElse =
	/(?:\blicen[cs]e|\bpassport|\border|\binvoice|\bid\b|\bticket|\bcase\b|\bversion|\bisbn|\bzip\b|\bpage|\baccount|\bref\b|\bsku\b|\bserial|\btracking|\bparcel|\brma\b|\bpart no|\bpolicy no|\bmodel|#)[^\d]{0,12}$/iu;
const date = /^(?:(?:19|20)\d{2}[-./ ](?:0?[1-9]|1[0-2])[-./ ]\d{1,2}|\d{1,2}[-./ ]\d{1,2}[-./ ](?:19|20)\d{2})(?:\D|$)/;
/** Area code and exchange begin with 2 to 9. The assigned area codes change, so they are not checked. */
const northAmerican = /^(?:\+?1[ .-]?)?(?:\([2-9]\d{2}\)[ .-]?|[2-9]\d{2}[./-])[2-9]\d{2}[ .-]\d{4}$/;
/** Three groups with spaces between them are usually a row of numbers. */
const northAmericanWithSpaces = /^(?:1 )?[2-9]\d{2} [2-9]\d{2} \d{4}$/;
/** Prefixes that replace `+`: of most countries, of North America, of Australia. */
const internationalPrefix = /^(?:\(?(?:0011|011|00)\)?)[ .-]?(?=[1-9])/;
const minPossibleDigits = 8;
/** Area code and the rest: "030 1234567", "030/1234567". */
const areaAndRest = /^(?:\(0\d{1,4}\) ?|0\d{1,4}[ /-])\d{5,8}$/;
/** Countries whose numbers have a leading zero. */
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
const cached = new Map<string, boolean>();
const maxCached = 1000;

/**
 * @param written number as written, with its prefix.
 * @param sizes of its groups of digits.
 * @param before text before it.
 * @param after text after it.
 */
export function isPhone(written: string, sizes: readonly number[], before: string, after: string): boolean {
	const digits = sizes.reduce((sum, size) => sum + size, 0);
	if (digits < minPhoneDigits || date.test(written)) return false;
	if (written.startsWith('+') || written.startsWith('(+')) {
		return digits >= minPossibleDigits ? isPossible(written) : isValid(written, undefined);
	}
	if (announcesSomethingElse(before)) return false;
	const afterPrefix = written.replace(internationalPrefix, '+');
	if (digits > maxPhoneDigits && !afterPrefix.startsWith('+')) return false;
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

/** @param before text before a number that announces something else: an order, a version. */
export function announcesSomethingElse(before: string): boolean {
	return aboutSomethingElse.test(before);
}

/** Checks that the country could assign the number, by its length. */
function isPossible(written: string): boolean {
	const plain = `+${written.replaceAll('(0)', '').replaceAll(/\D/g, '')}`;
	return cache(plain, () => isPossiblePhoneNumber(plain));
}

function isValid(written: string, countries: readonly CountryCode[] | undefined): boolean {
	return cache(`${countries?.length ?? 0} ${written}`, () =>
		countries === undefined ? isValidPhoneNumber(written) : countries.some((country) => isValidPhoneNumber(written, country)),
	);
}

function cache(key: string, classify: () => boolean): boolean {
	const known = cached.get(key);
	if (known !== undefined) return known;
	const classified = classify();
	if (cached.size >= maxCached) cached.clear();
	cached.set(key, classified);
	return classified;
}

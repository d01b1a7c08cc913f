/** Telephone numbers in the forms of many countries. Short local ones are taken for numbers only after a word that says so. */
import { type CountryCode, isValidPhoneNumber } from 'libphonenumber-js';

export const mostPhoneDigits = 15;
export const leastPhoneDigits = 7;
const aboutPhone =
	/(?:phone|\btel\b|\bmobile|\bcell\b|\bcellular|\bfax\b|\bcall(?:ed|ing)?\b|\bdial|\bwhatsapp|\bsms\b|\btext me|\breach (?:me|him|her|us|them)|\bcontact|\bhotline|\bhandy\b|\btelefon|\btéléphone|\bnumber is\b|☎)[^\d]{0,30}$/iu;
const aboutSomethingElse =
	/(?:\blicen[cs]e|\bpassport|\border|\binvoice|\bid\b|\bticket|\bcase\b|\bversion|\bisbn|\bzip\b|\bpage|\baccount|\bref\b|#)[^\d]{0,12}$/iu;
const date = /^(?:(?:19|20)\d{2}[-./ ](?:0?[1-9]|1[0-2])[-./ ]\d{1,2}|\d{1,2}[-./ ]\d{1,2}[-./ ](?:19|20)\d{2})(?:\D|$)/;
const northAmerican = /^(?:\+?1[ .-]?)?(?:\([2-9]\d{2}\) ?|[2-9]\d{2}[ .-])[2-9]\d{2}[ .-]\d{4}$/;
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
 * @param context what stands before it.
 */
export function isPhone(written: string, sizes: readonly number[], context: string): boolean {
	const digits = sizes.reduce((sum, size) => sum + size, 0);
	if (digits < leastPhoneDigits || digits > mostPhoneDigits || date.test(written) || written.includes('/')) return false;
	if (written.startsWith('+') || written.startsWith('(+')) return isValid(written, undefined);
	if (aboutSomethingElse.test(context)) return false;
	if (aboutPhone.test(context)) return sizes.length < 6 && (sizes.length > 3 || !/\.\d{1,2}$/.test(written));
	if (northAmerican.test(written)) return isValid(written, ['US']);
	const isGrouped = sizes.length >= 3 && sizes.length <= 5 && Math.max(...sizes) <= 5;
	return isGrouped && /^\(?0[1-9]/.test(written) && digits >= 9 && digits <= 11 && isValid(written, trunkZero);
}

function isValid(written: string, countries: readonly CountryCode[] | undefined): boolean {
	const key = `${countries?.length ?? 0} ${written}`;
	const known = remembered.get(key);
	if (known !== undefined) return known;
	const valid = countries === undefined ? isValidPhoneNumber(written) : countries.some((country) => isValidPhoneNumber(written, country));
	if (remembered.size >= mostRemembered) remembered.clear();
	remembered.set(key, valid);
	return valid;
}

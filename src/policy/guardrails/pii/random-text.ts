/** Tells characters that a machine drew from names, words and numbers that people made. */

const digitBesideLetter = /\d(?=[A-Za-z])|[A-Za-z](?=\d)/g;
const capitalBehindSmall = /[a-z](?=[A-Z])/g;
/** Names have digits at their ends, if any; random characters have them everywhere. */
const leastDigitChanges = 3;
/** Changes from digit to letter, or from a small letter to a capital. Random characters have two to four in ten. */
const leastShareOfChanges = 0.15;
/** No word has so many letters from a to f, and few else. */
const longHex = /^(?=.*\d)(?=.*[a-f])[\da-f]{32,}$/;
/** Numbers that identify something, and times. */
const uuid = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;
const time = /^\d{4}-\d\d-\d\d/;
/** What stands for the characters of a key in documentation: `xxxxxxxx`, `00000000`, `********`. */
const filler = /(.)\1{5}/;

/** @param text letters, digits and few signs between them. */
export function isRandomText(text: string): boolean {
	if (isFiller(text) || time.test(text)) return false;
	const digitChanges = text.match(digitBesideLetter)?.length ?? 0;
	const changes = digitChanges + (text.match(capitalBehindSmall)?.length ?? 0);
	return (digitChanges >= leastDigitChanges && changes >= text.length * leastShareOfChanges) || longHex.test(text) || uuid.test(text);
}

export function isFiller(text: string): boolean {
	return filler.test(text);
}

/** Social security numbers of the United States, which have a shape and no check digit. */

/** How far back a word is looked for that tells what a number is. */
const contextLength = 40;

export const aboutSsn = /\b(?:ssn|social security|soc\.? sec)/i;

export function isSsn(digits: string): boolean {
	return /^(?!000|666|9)\d{3}(?!00)\d{2}(?!0000)\d{4}$/.test(digits);
}

export function contextBefore(text: string, at: number): string {
	return text.slice(Math.max(0, at - contextLength), at);
}

/** Social security numbers of the United States, which have a shape and no check digit. */

export function isSsn(digits: string): boolean {
	return /^(?!000|666|9)\d{3}(?!00)\d{2}(?!0000)\d{4}$/.test(digits);
}

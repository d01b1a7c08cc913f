/** Formats lists as PostgreSQL array literals in one pass; the driver would check the type of each element. */

const special = /["\\]/g;

export function textArray(values: readonly (string | null)[]): string {
	return `{${values.map((value) => (value === null ? 'NULL' : `"${value.replace(special, '\\$&')}"`)).join()}}`;
}

/** Array of numbers, decimal texts and booleans. */
export function plainArray(values: readonly (number | bigint | string | boolean | null)[]): string {
	return `{${values.map((value) => value ?? 'NULL').join()}}`;
}

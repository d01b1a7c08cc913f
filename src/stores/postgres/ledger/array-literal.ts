/** Lists as PostgreSQL spells them in a text: written in one go, where the driver would look at each element's type. */

const special = /["\\]/g;

export function textArray(values: readonly (string | null)[]): string {
	return `{${values.map((value) => (value === null ? 'NULL' : `"${value.replace(special, '\\$&')}"`)).join()}}`;
}

/** Of numbers, decimal texts and booleans. */
export function plainArray(values: readonly (number | bigint | string | boolean | null)[]): string {
	return `{${values.map((value) => value ?? 'NULL').join()}}`;
}

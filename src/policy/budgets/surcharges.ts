/** What callers may choose that costs more than a model's list price, and the values that do not. */
const choices: readonly (readonly [field: string, standard: ReadonlySet<unknown>])[] = [
	['service_tier', new Set(['auto', 'default', 'standard', 'standard_only', 'flex'])],
	['speed', new Set(['standard'])],
	['inference_geo', new Set(['global'])],
];

/** @returns the field of a request that asks for what costs more; undefined: none does. */
export function surchargedField(request: Readonly<Record<string, unknown>>): string | undefined {
	return choices.find(([field, standard]) => typeof request[field] === 'string' && !standard.has(request[field]))?.[0];
}

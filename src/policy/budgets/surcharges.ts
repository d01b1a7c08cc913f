import type { Surcharges } from '../../core/request-facts.ts';

/** @returns the field of a request that asks for what costs more; undefined: none does. */
export function surchargedField(request: Readonly<Record<string, unknown>>, surcharges: Surcharges): string | undefined {
	for (const field in surcharges) {
		const value = request[field];
		if (typeof value === 'string' && surcharges[field]?.has(value) !== true) return field;
	}
	return undefined;
}

import { isGiven, type JsonObject } from '../../json-value.ts';
import { articled, reject } from './reject.ts';

export interface NumberRule {
	readonly field: string;
	readonly min: number;
	readonly max: number;
	readonly kind: 'integer' | 'decimal';
}

/** Checks numbers as OpenAI does, in the order of the rules. @throws VendorError. */
export function checkNumbers(body: JsonObject, rules: readonly NumberRule[]): void {
	for (const { field, min, max, kind } of rules) {
		const value = body[field];
		if (!isGiven(value)) continue;
		if (typeof value !== 'number' || (kind === 'integer' && !Number.isInteger(value))) {
			const expected = kind === 'integer' ? 'an integer' : 'a decimal';
			reject(`Invalid type for '${field}': expected ${expected}, but got ${articled(value)} instead.`, {
				param: field,
				code: 'invalid_type',
			});
		} else if (value < min) {
			reject(`Invalid '${field}': ${kind} below minimum value. Expected a value >= ${min}, but got ${value} instead.`, {
				param: field,
				code: `${kind}_below_min_value`,
			});
		} else if (value > max) {
			reject(`Invalid '${field}': ${kind} above maximum value. Expected a value <= ${max}, but got ${value} instead.`, {
				param: field,
				code: `${kind}_above_max_value`,
			});
		}
	}
}

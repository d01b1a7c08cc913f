import { type JsonObject, numberOf } from '../json-value.ts';
import type { SeededRandom } from '../seeded-random.ts';

/** Generates a number within a schema's bounds and of its `multipleOf`. If the bounds exclude each other, returns the lower one. */
export function fillNumber(node: JsonObject, isInteger: boolean, random: SeededRandom): number {
	const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = node;
	const requested = numberOf(node['multipleOf']);
	const step = stepOf(requested !== undefined && requested > 0 ? requested : undefined, isInteger);
	// Older schema drafts use `true` to mark the bound itself as excluded.
	const min = Math.max(numberOf(minimum) ?? -Infinity, numberOf(exclusiveMinimum) ?? -Infinity);
	const max = Math.min(numberOf(maximum) ?? Infinity, numberOf(exclusiveMaximum) ?? Infinity);
	const isLeastExcluded = exclusiveMinimum === true || numberOf(exclusiveMinimum) === min;
	const isMostExcluded = exclusiveMaximum === true || numberOf(exclusiveMaximum) === max;

	let first = Number.isFinite(min) ? Math.ceil(min / step) : Number.isFinite(max) ? Math.floor(max / step) - 100 : 1;
	if (isLeastExcluded && times(first, step) <= min) first++;
	let last = Number.isFinite(max) ? Math.floor(max / step) : first + 100;
	if (isMostExcluded && times(last, step) >= max) last--;
	if (last >= first) return times(random.integer(first, Math.min(last, first + 100)), step);
	// No multiple of the default step is between the bounds.
	if (requested !== undefined || isInteger) return times(first, step);
	if (!isLeastExcluded) return min;
	return isMostExcluded ? min + (max - min) / 2 : max;
}

function stepOf(multiple: number | undefined, isInteger: boolean): number {
	if (multiple === undefined) return isInteger ? 1 : 0.5;
	if (!isInteger) return multiple;
	for (let factor = 1; factor <= 1000; factor++) if (Number.isInteger(times(factor, multiple))) return times(factor, multiple);
	return multiple;
}

/** Multiplies without the rounding error of binary fractions: 3 times 0.1 is 0.3. */
function times(count: number, step: number): number {
	return Number((count * step).toPrecision(15));
}

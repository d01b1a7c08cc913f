import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { maxUnits, unitsOf } from './code-units.ts';

describe('the code units', () => {
	it('are those of the text, short or long, whole or in part, surrogates without a partner too', () => {
		const unit = fc.oneof(
			fc.constantFrom('a', 'é', '日', '🙂'),
			fc.nat(0xffff).map((code) => String.fromCharCode(code)),
		);
		const text = fc.array(unit, { maxLength: maxUnits / 2, size: 'max' }).map((units) => units.join(''));
		fc.assert(
			fc.property(text, fc.nat(maxUnits), fc.nat(maxUnits), (whole, one, other) => {
				const start = Math.min(one, other, whole.length);
				const end = Math.min(Math.max(one, other), whole.length);
				expect([...unitsOf(whole, start, end).subarray(0, end - start)]).toEqual(codesOf(whole.slice(start, end)));
				expect([...unitsOf(whole).subarray(0, whole.length)]).toEqual(codesOf(whole));
			}),
			{ numRuns: 300 },
		);
	});
});

function codesOf(text: string): number[] {
	return Array.from({ length: text.length }, (_, at) => text.charCodeAt(at));
}

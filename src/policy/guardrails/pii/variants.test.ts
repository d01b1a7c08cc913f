/** Measures recall by kind on spellings that `test/support/pii-variants.ts` generates, and false alarms on ordinary numbers. */
import { describe, expect, it } from 'vitest';
import { measureVariants, parts, variantRows } from '../../../../test/support/pii-variants.ts';

describe.each(parts)('personal data in generated spellings, %s', (part) => {
	const { kinds, flagged, ordinary } = measureVariants(part);

	it.each(kinds.map(({ kind, found, made }) => [kind, found, made] as const))('%s: %d of %d are found', (_kind, found, made) => {
		expect(made).toBeGreaterThanOrEqual(60);
		expect(found / made).toBeGreaterThanOrEqual(0.9);
	});

	it('at most one in a hundred ordinary rows is flagged', () => {
		expect(ordinary).toBeGreaterThanOrEqual(1000);
		expect(flagged / ordinary).toBeLessThanOrEqual(0.01);
	});
});

it('rows differ', () => {
	expect(new Set(variantRows.filter(({ kind }) => kind !== undefined).map(({ text }) => text)).size).toBeGreaterThan(4500);
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatUsd, formatUsdPerMillionTokens, parseUsd, parseUsdPerMillionTokens } from './money.ts';

describe('US dollars', () => {
	it.each([
		['100.00', 100_000_000_000n],
		['0.000000125', 125n],
		['7', 7_000_000_000n],
		['0.5', 500_000_000n],
		['999999999999999.999999999', 999_999_999_999_999_999_999_999n],
	])('%s is %s nano-US-dollars', (text, nanoUsd) => {
		expect(parseUsd(text)).toBe(nanoUsd);
	});

	it.each(['', '.5', '5.', '-1', '+1', '1e3', '1,5', ' 1', '1\n', '0.0000000001', '1000000000000000', 'NaN', '٣'])(
		'%j is not an amount',
		(text) => {
			expect(parseUsd(text)).toBeUndefined();
		},
	);

	it.each([
		[0n, '0.00'],
		[1n, '0.000000001'],
		[100_000_000_000n, '100.00'],
		[1_500_000_000n, '1.50'],
		[1_230_000_000n, '1.23'],
		[1_234_000_000n, '1.234'],
		[-1_500_000_000n, '-1.50'],
	])('%s is formatted as %s', (nanoUsd, text) => {
		expect(formatUsd(nanoUsd)).toBe(text);
	});

	it('are parsed as they were formatted', () => {
		fc.assert(fc.property(fc.bigInt({ min: 0n, max: 10n ** 24n - 1n }), (nanoUsd) => parseUsd(formatUsd(nanoUsd)) === nanoUsd));
	});
});

describe('US dollars per million tokens', () => {
	it.each([
		['2.50', 2_500_000n],
		['0.0375', 37_500n],
		['0.000001', 1n],
		['600', 600_000_000n],
	])('%s is %s pico-US-dollars a token', (text, picoUsd) => {
		expect(parseUsdPerMillionTokens(text)).toBe(picoUsd);
	});

	it('rejects a rate without a whole number of pico-US-dollars', () => {
		expect(parseUsdPerMillionTokens('0.0000001')).toBeUndefined();
	});

	it('are parsed as they were formatted', () => {
		const rates = fc.bigInt({ min: 0n, max: 10n ** 20n });
		fc.assert(fc.property(rates, (picoUsd) => parseUsdPerMillionTokens(formatUsdPerMillionTokens(picoUsd)) === picoUsd));
	});
});

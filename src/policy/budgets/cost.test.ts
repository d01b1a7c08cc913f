import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Price, PriceTier } from '../../core/price.ts';
import { noUsage, type Usage } from '../../core/usage.ts';
import { costNanoUsd, dearestCallsNanoUsd, worstCaseNanoUsd } from './cost.ts';

const count = fc.integer({ min: 0, max: 2_000_000 });
const rate = fc.bigInt({ min: 0n, max: 600_000_000n });

const usages: fc.Arbitrary<Usage> = fc
	.record({
		inputTokens: count,
		cacheReadTokens: count,
		cacheWriteTokens: count,
		outputTokens: count,
		hour: fc.nat(100),
		reasoning: fc.nat(100),
	})
	.map(({ hour, reasoning, ...usage }) => ({
		...usage,
		cacheWriteHourTokens: Math.floor((usage.cacheWriteTokens * hour) / 100),
		reasoningTokens: Math.floor((usage.outputTokens * reasoning) / 100),
	}));

const tiers: fc.Arbitrary<PriceTier> = fc.record({
	upToInputTokens: fc.constant(null),
	inputPicoUsd: rate,
	cacheReadPicoUsd: rate,
	cacheWritePicoUsd: rate,
	cacheWriteHourPicoUsd: rate,
	outputPicoUsd: rate,
	reasoningPicoUsd: rate,
});

const prices: fc.Arbitrary<Price> = fc
	.tuple(fc.uniqueArray(fc.integer({ min: 1, max: 3_000_000 }), { maxLength: 3 }), fc.array(tiers, { minLength: 4, maxLength: 4 }))
	.map(([bounds, rates]) => ({
		version: 'test',
		tiers: [...bounds.toSorted((one, other) => one - other), null].flatMap((upToInputTokens, index) => {
			const tier = rates[index];
			return tier === undefined ? [] : [{ ...tier, upToInputTokens }];
		}),
	}));

/** Computes the cost exactly: the numerator of a fraction of a US dollar over 10^12, one bucket after the other. */
function exactCost(usage: Usage, price: Price): bigint {
	const whole = usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
	let tier = price.tiers.at(-1);
	for (const lower of price.tiers.toReversed()) if (lower.upToInputTokens !== null && whole <= lower.upToInputTokens) tier = lower;
	if (tier === undefined) throw new Error('no tier');
	const buckets: [number, bigint][] = [
		[usage.inputTokens, tier.inputPicoUsd],
		[usage.cacheReadTokens, tier.cacheReadPicoUsd],
		[usage.cacheWriteTokens - usage.cacheWriteHourTokens, tier.cacheWritePicoUsd],
		[usage.cacheWriteHourTokens, tier.cacheWriteHourPicoUsd],
		[usage.outputTokens - usage.reasoningTokens, tier.outputPicoUsd],
		[usage.reasoningTokens, tier.reasoningPicoUsd],
	];
	let picoUsd = 0n;
	for (const [tokens, rateOf] of buckets) picoUsd += BigInt(tokens) * rateOf;
	return picoUsd % 1000n === 0n ? picoUsd / 1000n : picoUsd / 1000n + 1n;
}

const flat: Price = {
	version: 'test',
	tiers: [
		{
			upToInputTokens: 100,
			inputPicoUsd: 1000n,
			cacheReadPicoUsd: 100n,
			cacheWritePicoUsd: 1250n,
			cacheWriteHourPicoUsd: 2000n,
			outputPicoUsd: 5000n,
			reasoningPicoUsd: 6000n,
		},
		{
			upToInputTokens: null,
			inputPicoUsd: 2000n,
			cacheReadPicoUsd: 200n,
			cacheWritePicoUsd: 2500n,
			cacheWriteHourPicoUsd: 4000n,
			outputPicoUsd: 9000n,
			reasoningPicoUsd: 9000n,
		},
	],
};

describe('the cost of a request', () => {
	it.each([
		[{ inputTokens: 100 }, 100n],
		[{ inputTokens: 101 }, 202n],
		[{ inputTokens: 60, cacheReadTokens: 40 }, 64n],
		[{ inputTokens: 60, cacheReadTokens: 41 }, 129n],
		[{ cacheReadTokens: 1 }, 1n],
		[{ cacheReadTokens: 11 }, 2n],
		[{ cacheWriteTokens: 8 }, 10n],
		[{ cacheWriteTokens: 8, cacheWriteHourTokens: 8 }, 16n],
		[{ cacheWriteTokens: 8, cacheWriteHourTokens: 4 }, 13n],
		[{ outputTokens: 10 }, 50n],
		[{ outputTokens: 10, reasoningTokens: 10 }, 60n],
		[{ outputTokens: 10, reasoningTokens: 4 }, 54n],
		[{}, 0n],
	])('of %j is %s', (usage, expected) => {
		expect(costNanoUsd({ ...noUsage, ...usage }, flat)).toBe(expected);
	});

	it('includes calls of hosted tools that have a price', () => {
		const price = { ...flat, toolNanoUsd: { web_search: 10_000_000n, file_search: 2_500_000n } };
		const usage = { ...noUsage, inputTokens: 100, toolCalls: { web_search: 3, image_generation: 7 } };
		expect([costNanoUsd(usage, price), costNanoUsd(usage, flat)]).toEqual([30_000_100n, 100n]);
		expect([dearestCallsNanoUsd(10, price), dearestCallsNanoUsd(10, flat)]).toEqual([100_000_000n, 0n]);
	});

	it('is the exact sum of its buckets, rounded up once', () => {
		fc.assert(fc.property(usages, prices, (usage, price) => costNanoUsd(usage, price) === exactCost(usage, price)));
	});

	it.each([
		['none', { cacheWriteTokens: 0, cacheWriteHourTokens: 0 }],
		['short', { cacheWriteHourTokens: 0 }],
		['hour', {}],
	] as const)('is never above the worst case of so many tokens or more, with cache writes: %s', (cacheWrites, absent) => {
		fc.assert(
			fc.property(usages, prices, fc.nat(1000), fc.nat(1000), (any, price, moreInput, moreOutput) => {
				const usage = { ...any, ...absent };
				const input = usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
				return costNanoUsd(usage, price) <= worstCaseNanoUsd(input + moreInput, usage.outputTokens + moreOutput, price, cacheWrites);
			}),
			{ numRuns: 1000 },
		);
	});

	it('is never more than a million dollars, whatever a price or a provider says', () => {
		const [, tier] = flat.tiers;
		if (tier === undefined) throw new Error('the price has no second tier');
		const absurd: Price = { version: 'test', tiers: [{ ...tier, outputPicoUsd: 10n ** 15n }] };
		expect(costNanoUsd({ ...noUsage, outputTokens: 1_000_000_000 }, absurd)).toBe(10n ** 15n);
		expect(worstCaseNanoUsd(1, 128 * 1_050_000, absurd, 'none')).toBe(10n ** 15n);
	});

	it.each([
		['none', { inputTokens: 100 }],
		['short', { cacheWriteTokens: 100 }],
		['hour', { cacheWriteTokens: 100, cacheWriteHourTokens: 100 }],
	] as const)('has a worst case that is reached, with cache writes: %s', (cacheWrites, input) => {
		const dearest = costNanoUsd({ ...noUsage, ...input, outputTokens: 10, reasoningTokens: 10 }, flat);
		expect(worstCaseNanoUsd(100, 10, flat, cacheWrites)).toBe(dearest);
	});
});

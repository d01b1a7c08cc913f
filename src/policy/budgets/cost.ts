import type { CacheWrites, Surcharges } from '../../core/cost-factors.ts';
import { picoUsdPerNanoUsd } from '../../core/money.ts';
import type { Price, PriceTier } from '../../core/price.ts';
import type { Usage } from '../../core/usage.ts';

/**
 * What a call costs: each bucket of its usage at its own rate, those of the tier that its whole input falls in.
 * Rounded up to whole nano-US-dollars, once.
 */
export function costNanoUsd(usage: Usage, price: Price): bigint {
	const { inputTokens, cacheReadTokens, cacheWriteTokens, cacheWriteHourTokens, outputTokens, reasoningTokens } = usage;
	const tier = tierOf(price, inputTokens + cacheReadTokens + cacheWriteTokens);
	return roundUp(
		bucketPicoUsd(inputTokens, tier.inputPicoUsd) +
			bucketPicoUsd(cacheReadTokens, tier.cacheReadPicoUsd) +
			bucketPicoUsd(cacheWriteTokens - cacheWriteHourTokens, tier.cacheWritePicoUsd) +
			bucketPicoUsd(cacheWriteHourTokens, tier.cacheWriteHourPicoUsd) +
			bucketPicoUsd(outputTokens - reasoningTokens, tier.outputPicoUsd) +
			bucketPicoUsd(reasoningTokens, tier.reasoningPicoUsd),
	);
}

/** As `costNanoUsd`, of a call without caches and reasoning. */
export function plainCostNanoUsd(inputTokens: number, outputTokens: number, price: Price): bigint {
	const tier = tierOf(price, inputTokens);
	return roundUp(bucketPicoUsd(inputTokens, tier.inputPicoUsd) + bucketPicoUsd(outputTokens, tier.outputPicoUsd));
}

/** Most buckets of most calls are empty. */
function bucketPicoUsd(tokens: number, picoUsd: bigint): bigint {
	return tokens === 0 ? 0n : BigInt(tokens) * picoUsd;
}

/**
 * The most that a call of at most so many tokens can cost, however its input is split over the caches it may use and its output over
 * reasoning, and whichever tier it falls in: `costNanoUsd` of no such usage is higher.
 * @param cacheWrites those that the request may cause.
 */
export function worstCaseNanoUsd(inputTokens: number, outputTokens: number, price: Price, cacheWrites: CacheWrites): bigint {
	let highest = 0n;
	let lowerBound = 0;
	for (const tier of price.tiers) {
		// A tier that begins above the input is out of reach; a smaller input may fall in any below.
		if (inputTokens < lowerBound) break;
		const inTier = BigInt(Math.min(inputTokens, tier.upToInputTokens ?? inputTokens));
		highest = max(
			highest,
			inTier * dearestInput(tier, cacheWrites) + BigInt(outputTokens) * max(tier.outputPicoUsd, tier.reasoningPicoUsd),
		);
		lowerBound = (tier.upToInputTokens ?? 0) + 1;
	}
	return roundUp(highest);
}

function dearestInput(tier: PriceTier, cacheWrites: CacheWrites): bigint {
	const { inputPicoUsd, cacheReadPicoUsd, cacheWritePicoUsd, cacheWriteHourPicoUsd } = tier;
	const unwritten = max(inputPicoUsd, cacheReadPicoUsd);
	if (cacheWrites === 'none') return unwritten;
	return cacheWrites === 'short' ? max(unwritten, cacheWritePicoUsd) : max(unwritten, cacheWritePicoUsd, cacheWriteHourPicoUsd);
}

function tierOf({ tiers, version }: Price, inputTokens: number): PriceTier {
	for (const tier of tiers) if (tier.upToInputTokens === null || inputTokens <= tier.upToInputTokens) return tier;
	throw new Error(`the price ${version} has no tier for ${inputTokens} input tokens`);
}

/** A million US dollars: no call costs more, and sums of such still fit where they are kept. Only a mistaken price says so. */
const mostNanoUsd = 10n ** 15n;

function roundUp(picoUsd: bigint): bigint {
	const nanoUsd = (picoUsd + picoUsdPerNanoUsd - 1n) / picoUsdPerNanoUsd;
	return nanoUsd < mostNanoUsd ? nanoUsd : mostNanoUsd;
}

function max(first: bigint, ...others: bigint[]): bigint {
	let greatest = first;
	for (const other of others) if (other > greatest) greatest = other;
	return greatest;
}

/** @returns the field of a request that asks for what costs more; undefined: none does. */
export function surchargedField(request: Readonly<Record<string, unknown>>, surcharges: Surcharges): string | undefined {
	for (const field in surcharges) {
		const value = request[field];
		if (typeof value === 'string' && surcharges[field]?.has(value) !== true) return field;
	}
	return undefined;
}

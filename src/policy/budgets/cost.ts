import type { CacheWrites, Surcharges } from '../../core/cost-factors.ts';
import { picoUsdPerNanoUsd } from '../../core/money.ts';
import type { Price, PriceTier } from '../../core/price.ts';
import { hostedTools, type ToolCalls, type Usage } from '../../core/usage.ts';

/**
 * Computes the cost of a request: each bucket of its usage at its own rate, in the tier of its total input, and its calls of hosted tools.
 * Rounded up once, to whole nano-US-dollars.
 */
export function costNanoUsd(usage: Usage, price: Price): bigint {
	const { inputTokens, cacheReadTokens, cacheWriteTokens, cacheWriteHourTokens, outputTokens, reasoningTokens, toolCalls } = usage;
	const tier = tierOf(price, inputTokens + cacheReadTokens + cacheWriteTokens);
	return roundUp(
		bucketPicoUsd(inputTokens, tier.inputPicoUsd) +
			bucketPicoUsd(cacheReadTokens, tier.cacheReadPicoUsd) +
			bucketPicoUsd(cacheWriteTokens - cacheWriteHourTokens, tier.cacheWritePicoUsd) +
			bucketPicoUsd(cacheWriteHourTokens, tier.cacheWriteHourPicoUsd) +
			bucketPicoUsd(outputTokens - reasoningTokens, tier.outputPicoUsd) +
			bucketPicoUsd(reasoningTokens, tier.reasoningPicoUsd) +
			(toolCalls === undefined ? 0n : callsNanoUsd(toolCalls, price) * picoUsdPerNanoUsd),
	);
}

function callsNanoUsd(calls: ToolCalls, { toolNanoUsd = {} }: Price): bigint {
	let sum = 0n;
	for (const tool of hostedTools) sum += BigInt(calls[tool] ?? 0) * (toolNanoUsd[tool] ?? 0n);
	return sum;
}

/** Returns the cost of this many calls of the most expensive hosted tool. */
export function dearestCallsNanoUsd(calls: number, { toolNanoUsd = {} }: Price): bigint {
	return BigInt(calls) * max(0n, ...hostedTools.map((tool) => toolNanoUsd[tool] ?? 0n));
}

/** Computes the same as `costNanoUsd` for a request without caches and reasoning. */
export function plainCostNanoUsd(inputTokens: number, outputTokens: number, price: Price): bigint {
	const tier = tierOf(price, inputTokens);
	return roundUp(bucketPicoUsd(inputTokens, tier.inputPicoUsd) + bucketPicoUsd(outputTokens, tier.outputPicoUsd));
}

/** Skips the multiplication for empty buckets, which most are. */
function bucketPicoUsd(tokens: number, picoUsd: bigint): bigint {
	return tokens === 0 ? 0n : BigInt(tokens) * picoUsd;
}

/**
 * Returns the maximum cost of a request with at most these tokens, for any tier and any split over caches and reasoning. `costNanoUsd` of
 * such a usage is never higher.
 * @param cacheWrites those that the request can cause.
 */
export function worstCaseNanoUsd(inputTokens: number, outputTokens: number, price: Price, cacheWrites: CacheWrites): bigint {
	let highest = 0n;
	let lowerBound = 0;
	for (const tier of price.tiers) {
		// A tier that begins above the input does not apply; a smaller input can fall in any lower tier.
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

/** A million US dollars. Only a mistaken price makes a request cost more, and sums of smaller costs fit the stores' integers. */
const maxNanoUsd = 10n ** 15n;

function roundUp(picoUsd: bigint): bigint {
	const nanoUsd = (picoUsd + picoUsdPerNanoUsd - 1n) / picoUsdPerNanoUsd;
	return nanoUsd < maxNanoUsd ? nanoUsd : maxNanoUsd;
}

function max(first: bigint, ...others: bigint[]): bigint {
	let greatest = first;
	for (const other of others) if (other > greatest) greatest = other;
	return greatest;
}

/** @returns the field of a request that selects a surcharged option; undefined: none does. */
export function surchargedField(request: Readonly<Record<string, unknown>>, surcharges: Surcharges): string | undefined {
	for (const field in surcharges) {
		const value = request[field];
		if (typeof value === 'string' && surcharges[field]?.has(value) !== true) return field;
	}
	return undefined;
}

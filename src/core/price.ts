import type { HostedTool } from './usage.ts';

/** Versions of the fallback prices for a model without a known price: zero, and `budgets.default_rate`. */
export const fallbackPriceVersions = { free: 'unpriced', defaultRate: 'default_rate' } as const;

/** Price of a model's tokens. */
export interface Price {
	/** Identifies this price in ledger entries by source and date or number, such as `default:2026-11-01` or `override:17`. */
	readonly version: string;
	/** Rates by the request's total input, each up to `upToInputTokens`, ascending; the last has no bound. */
	readonly tiers: readonly PriceTier[];
	/** Price of one call of each hosted tool; zero for missing ones. */
	readonly toolNanoUsd?: ToolPrices;
}

export type ToolPrices = Readonly<Partial<Record<HostedTool, bigint>>>;

/** Rates in pico-US-dollars a token; never negative. */
export interface PriceTier {
	/** Inclusive bound on the request's total input (uncached, read from and written to the cache); null in the last tier. */
	readonly upToInputTokens: number | null;
	readonly inputPicoUsd: bigint;
	readonly cacheReadPicoUsd: bigint;
	readonly cacheWritePicoUsd: bigint;
	readonly cacheWriteHourPicoUsd: bigint;
	readonly outputPicoUsd: bigint;
	/** Rate of reasoning tokens; equal to `outputPicoUsd` if the vendor has no separate rate. */
	readonly reasoningPicoUsd: bigint;
}

/** Versions of the prices that stand in for one that is not known: nothing, and `budgets.default_rate`. */
export const fallbackPriceVersions = { free: 'unpriced', defaultRate: 'default_rate' } as const;

const fallbacks: ReadonlySet<string> = new Set(Object.values(fallbackPriceVersions));

/** Whether a ledger entry with this version was charged the price of its model. */
export function isPriced(priceVersion: string): boolean {
	return !fallbacks.has(priceVersion);
}

/** What a model's tokens cost. */
export interface Price {
	/** Names this price in ledger rows: where it came from and when, such as `default:2026-11-01` or `override:17`. */
	readonly version: string;
	/** Rates of calls whose whole input is at most `upToInputTokens`, ascending; the last has no bound. */
	readonly tiers: readonly PriceTier[];
}

/** Pico-US-dollars a token; never negative. */
export interface PriceTier {
	/** Inclusive bound on the call's whole input (uncached, read and written); null in the last tier. */
	readonly upToInputTokens: number | null;
	readonly inputPicoUsd: bigint;
	readonly cacheReadPicoUsd: bigint;
	readonly cacheWritePicoUsd: bigint;
	readonly cacheWriteHourPicoUsd: bigint;
	readonly outputPicoUsd: bigint;
	/** Of reasoning tokens; equal to `outputPicoUsd` where the vendor has no rate of its own. */
	readonly reasoningPicoUsd: bigint;
}

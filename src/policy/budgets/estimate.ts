import type { Price } from '../../core/price.ts';
import { noUsage } from '../../core/usage.ts';
import { costNanoUsd } from './cost.ts';

/** What a choice usually comes to at most; the few longer ones are corrected when they are settled. */
export const usualOutputTokens = 1024;

export interface EstimatedCall {
	/** See `InputSize.estimatedTokens`. */
	readonly inputTokens: number;
	/** The caller's cap on a choice's output; undefined: none. */
	readonly capTokens: number | undefined;
	/** How many answers the caller asks for. */
	readonly choices: number;
}

/** About what a call will cost: no bound. For the bound see `worstCaseNanoUsd`. */
export function estimateNanoUsd({ inputTokens, capTokens, choices }: EstimatedCall, price: Price): bigint {
	const outputTokens = Math.min(capTokens ?? usualOutputTokens, usualOutputTokens) * choices;
	return costNanoUsd({ ...noUsage, inputTokens, outputTokens }, price);
}

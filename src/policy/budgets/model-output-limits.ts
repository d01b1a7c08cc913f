/** Minimum knowledge of models that is needed to bound the cost of a request. */
import { memoize } from '../../core/bounded-map.ts';

interface Limits {
	/** Maximum of input and output together. */
	readonly contextWindow: number;
	readonly maxOutputTokens: number;
}

/** Limits by prefix of the name; the longest matching prefix decides. */
const families: readonly (readonly [prefix: string, limits: Limits])[] = (
	[
		['chatgpt-4o', 128_000, 16_384],
		['claude-', 1_000_000, 128_000],
		['claude-2', 200_000, 4096],
		['claude-3-', 200_000, 4096],
		['claude-3-5-', 200_000, 8192],
		['claude-3-7-', 200_000, 64_000],
		['claude-haiku-4', 200_000, 64_000],
		['claude-opus-4-0', 200_000, 32_000],
		['claude-opus-4-1', 200_000, 32_000],
		['claude-opus-4-2025', 200_000, 32_000],
		['claude-opus-4-5', 200_000, 64_000],
		['claude-sonnet-4', 1_000_000, 64_000],
		['claude-sonnet-4-6', 1_000_000, 128_000],
		['gemini-', 1_048_576, 65_536],
		['gemini-1.5-', 2_097_152, 8192],
		['gemini-2.0-', 1_048_576, 8192],
		['gpt-3.5-', 16_385, 4096],
		['gpt-4', 8192, 4096],
		['gpt-4-0125', 128_000, 4096],
		['gpt-4-1106', 128_000, 4096],
		['gpt-4-32k', 32_768, 4096],
		['gpt-4-turbo', 128_000, 4096],
		['gpt-4.1', 1_047_576, 32_768],
		['gpt-4.5', 128_000, 16_384],
		['gpt-4o', 128_000, 16_384],
		['gpt-4o-2024-05-13', 128_000, 4096],
		['gpt-5', 1_050_000, 128_000],
		['gpt-5-chat', 128_000, 16_384],
		['gpt-5.1-chat', 128_000, 16_384],
		['gpt-5.2-chat', 128_000, 16_384],
		['gpt-5.3-chat', 128_000, 16_384],
		['gpt-6', 1_050_000, 128_000],
		['o1', 200_000, 100_000],
		['o1-mini', 128_000, 65_536],
		['o1-preview', 128_000, 32_768],
		['o3', 200_000, 100_000],
		['o4', 200_000, 100_000],
	] as const
)
	.toSorted(([one], [other]) => other.length - one.length)
	.map(([prefix, contextWindow, maxOutputTokens]) => [prefix, { contextWindow, maxOutputTokens }]);

const unknownContextWindow = 1_050_000;
/** Upper bound for all models; few unknown models accept this much. */
const maxInputTokens = 10_000_000;
/** Default for an unknown model, such as a deployment: most models in use support this much. */
const unknownMaxOutputTokens = 16_384;

/** Returns the context window, which is an upper bound for an unknown model too. */
export function contextWindowOf(model: string): number {
	return limitsOf(model)?.contextWindow ?? unknownContextWindow;
}

/** Returns the maximum input; the provider rejects a longer request. */
export function maxInputTokensOf(model: string): number {
	return limitsOf(model)?.contextWindow ?? maxInputTokens;
}

/** Returns the maximum output of one choice, whatever the request. @param known as of `capFor`. */
export function outputTokenLimitOf(model: string, known: number | undefined): number {
	return known ?? contextWindowOf(model);
}

export function maxOutputTokensOf(model: string): number | undefined {
	return limitsOf(model)?.maxOutputTokens;
}

export interface OutputCap {
	/** Maximum output of one choice. */
	readonly tokens: number;
	/** True: the limit must be added to the request; false: the request has it already. */
	readonly shouldWrite: boolean;
}

/**
 * Chooses the output limit, reasoning included, that makes the worst-case cost of a request finite: the client's own, or the model's
 * maximum. A higher limit is lowered to the model's maximum.
 * @param requestedTokens the client's limit; undefined: none.
 * @param known the model's maximum output; undefined for an unknown model.
 */
export function capFor(model: string, requestedTokens: number | undefined, known = maxOutputTokensOf(model)): OutputCap {
	if (requestedTokens === undefined) return { tokens: known ?? unknownMaxOutputTokens, shouldWrite: true };
	const max = outputTokenLimitOf(model, known);
	return requestedTokens > max ? { tokens: max, shouldWrite: true } : { tokens: requestedTokens, shouldWrite: false };
}

const limitsOf = memoize(1000, (model): Limits | undefined => families.find(([prefix]) => model.startsWith(prefix))?.[1]);

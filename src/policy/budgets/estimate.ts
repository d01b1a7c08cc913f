/** What a choice usually comes to at most; the few longer ones are corrected when they are settled. */
const usualOutputTokens = 1024;

/**
 * About what a call will write: no bound. For that see `capFor`.
 * @param capTokens of one choice: the caller's cap, or what the model can write.
 * @param choices how many answers the caller asks for.
 */
export function estimatedOutputTokens(capTokens: number, choices: number): number {
	return Math.min(capTokens, usualOutputTokens) * choices;
}

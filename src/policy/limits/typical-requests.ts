import { BoundedMap } from '../../core/bounded-map.ts';

/** Maximum number of combinations of team and model. */
const maxRetained = 10_000;

/** Estimate until the first request has ended. */
const firstOutputTokens = 256;
const firstDurationMs = 5000;

/** Minimum number of counted tokens for a ratio to the reported ones. */
const minCountedTokens = 32;

/** Weight of the newest request in each average. */
const newestShare = 1 / 8;

/** Reported usage of a provider, and the tokens counted in the text that it sent. */
export interface CountedUsage {
	readonly usage: { readonly outputTokens: number; readonly reasoningTokens: number };
	readonly countedTokens?: number | undefined;
}

/** Moving averages of a team's recent requests to a model. Estimates, never bounds. */
export class TypicalRequest {
	/** Output tokens of one choice. */
	outputTokens = firstOutputTokens;
	/** Time from sending to settlement. */
	durationMs = firstDurationMs;

	/** Ratio of reported output tokens to those counted in the text of the same streams. */
	tokensPerCounted = 1;

	/** Updates the ratio after a stream with reported usage. */
	noteCounted({ usage, countedTokens = 0 }: CountedUsage): void {
		if (countedTokens < minCountedTokens) return;
		const tokensPerCounted = (usage.outputTokens - usage.reasoningTokens) / countedTokens;
		this.tokensPerCounted += (Math.min(Math.max(tokensPerCounted, 0.9), 2) - this.tokensPerCounted) * newestShare;
	}

	/** Updates the averages after a successful request. */
	note(outputTokens: number, durationMs: number): void {
		this.outputTokens += (outputTokens - this.outputTokens) * newestShare;
		this.durationMs += (durationMs - this.durationMs) * newestShare;
	}

	/** @param allowedOutputTokens of all choices, by the request's limit. */
	estimateTokens(inputTokens: number, choices: number, allowedOutputTokens: number): number {
		return inputTokens + Math.min(Math.ceil(this.outputTokens * choices), allowedOutputTokens);
	}
}

/** Averages of one process; each gateway has its own. */
export class TypicalRequests {
	readonly #retained = new BoundedMap<string, TypicalRequest>(maxRetained);

	of(team: string, model: string): TypicalRequest {
		const key = `${team}\n${model}`;
		let typical = this.#retained.get(key);
		if (typical === undefined) {
			typical = new TypicalRequest();
			this.#retained.set(key, typical);
		}
		return typical;
	}
}

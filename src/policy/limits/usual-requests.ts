import { BoundedMap } from '../../core/bounded-map.ts';

/** Of teams and models together. */
const maxKept = 10_000;

/** Until the first request has ended. */
const firstOutputTokens = 256;
const firstDurationMs = 5000;

/** Fewer say too little of how long a model's tokens are. */
const leastCountedTokens = 32;

/** Of the newest request in each average. */
const newestShare = 1 / 8;

/** What a provider reported, and what was counted in the text that it sent. */
export interface CountedUsage {
	readonly usage: { readonly outputTokens: number; readonly reasoningTokens: number };
	readonly countedTokens?: number | undefined;
}

/** What requests of a team to a model lately came to: moving averages. An estimate, never a bound. */
export class UsualRequest {
	/** Of one choice. */
	outputTokens = firstOutputTokens;
	/** From being sent to being settled. */
	durationMs = firstDurationMs;

	/** Output tokens that providers reported, for each that was counted in the text of the same streams. */
	tokensPerCounted = 1;

	/** Of a stream whose provider reported its usage. */
	noteCounted({ usage, countedTokens = 0 }: CountedUsage): void {
		if (countedTokens < leastCountedTokens) return;
		const tokensPerCounted = (usage.outputTokens - usage.reasoningTokens) / countedTokens;
		this.tokensPerCounted += (Math.min(Math.max(tokensPerCounted, 0.9), 2) - this.tokensPerCounted) * newestShare;
	}

	/** Of a request that ended as it should. */
	note(outputTokens: number, durationMs: number): void {
		this.outputTokens += (outputTokens - this.outputTokens) * newestShare;
		this.durationMs += (durationMs - this.durationMs) * newestShare;
	}

	/** @param allowedOutputTokens of all choices, by the request's cap. */
	estimateTokens(inputTokens: number, choices: number, allowedOutputTokens: number): number {
		return inputTokens + Math.min(Math.ceil(this.outputTokens * choices), allowedOutputTokens);
	}
}

/** Of a process: another gateway learns by itself. */
export class UsualRequests {
	readonly #kept = new BoundedMap<string, UsualRequest>(maxKept);

	of(team: string, model: string): UsualRequest {
		const key = `${team}\n${model}`;
		let usual = this.#kept.get(key);
		if (usual === undefined) {
			usual = new UsualRequest();
			this.#kept.set(key, usual);
		}
		return usual;
	}
}

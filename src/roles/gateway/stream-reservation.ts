/** What a stream reserves under `on_stream_over: stop`: it grows while the stream runs, and ends it before the budget is exceeded. */
import type { Clock, Timer } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import type { Price } from '../../core/price.ts';
import { Refusal } from '../../core/refusal.ts';
import type { Usage } from '../../core/usage.ts';
import { costNanoUsd } from '../../policy/budgets/cost.ts';
import { StreamPace } from '../../policy/budgets/stream-pace.ts';
import type { AdmissionStore, BudgetHold } from '../../stores/contracts/admission.ts';
import type { MeteredUsage } from '../../wire/usage/usage-meter.ts';

/** The least step in which a reservation grows, for each choice. */
const leastTokens = 32;
/** A stream reserves what it generates in so long, and asks for more when less than the other is left. */
const aheadMs = 1000;
const leadMs = 400;
/** Between two requests of one stream for more, when there was too little. */
const againMs = 200;
/** Between two looks at a model that may think without showing it. */
const hiddenMs = 500;

/** A request is admitted when this much of its output fits, and reserves the other where that is left. Of each choice. */
export const admittedTokens = { least: leastTokens, first: 128 };

/** Ends a stream because its budget has no more. */
export class StreamStopped extends Refusal {
	constructor() {
		super('budget_exceeded', { message: 'The stream was ended: the budget does not allow more of it' });
	}
}

export interface StreamReservationTerms {
	readonly id: string;
	readonly team: string;
	readonly holds: readonly BudgetHold[];
	readonly holdMs: number;
	readonly price: Price;
	readonly choices: number;
	/** By the request's cap, of all choices. */
	readonly allowedTokens: number;
	readonly reservedNanoUsd: bigint;
}

export interface StreamReservationPorts {
	readonly admission: Pick<AdmissionStore, 'grow'>;
	readonly clock: Clock;
	readonly log: Log;
	/** What the model can have thought by now without showing it. */
	readonly hiddenTokens: () => number;
	/** Whether it may have, by what is known of the response. */
	readonly isBlind: (metered: MeteredUsage) => boolean;
	readonly stop: (reason: StreamStopped) => void;
}

export class StreamReservation {
	readonly #terms: StreamReservationTerms;
	readonly #ports: StreamReservationPorts;
	readonly #pace = new StreamPace();
	#reservedNanoUsd: bigint;
	/** All but the output. */
	#usage: Usage;
	#seenTokens = 0;
	#hiddenTokens = 0;
	#timer: Timer | undefined;
	#askedMs = Number.NEGATIVE_INFINITY;
	#isAsking = false;
	/** The last request for more found too little. */
	#isShort = false;
	#isOver = false;

	/** @param usage before anything has arrived. */
	constructor(terms: StreamReservationTerms, usage: Usage, ports: StreamReservationPorts) {
		this.#terms = terms;
		this.#ports = ports;
		this.#usage = usage;
		this.#reservedNanoUsd = terms.reservedNanoUsd;
	}

	/** The request has left: a model may think from now on. @param mayThinkUnseen see `isBlind`. */
	begin(mayThinkUnseen: boolean): void {
		if (mayThinkUnseen && !this.#isOver) this.#watchHidden();
	}

	/** To be told whenever a part of the stream has arrived. */
	arrived(metered: MeteredUsage): void {
		if (this.#isOver) return;
		const { usage } = metered;
		if (!metered.isEstimated) {
			this.end();
			return;
		}
		this.#usage = usage;
		if (usage.outputTokens > 0) {
			if (this.#seenTokens === 0) this.#hiddenTokens = this.#ports.isBlind(metered) ? this.#ports.hiddenTokens() : 0;
			this.#timer?.cancel();
			this.#seenTokens = Math.max(this.#seenTokens, usage.outputTokens);
			this.#pace.arrived(this.#seenTokens, this.#ports.clock.monotonicMs());
		}
		this.#judge();
	}

	end(): void {
		this.#isOver = true;
		this.#timer?.cancel();
	}

	/**
	 * What is charged for a stream that ended before its provider could report what it cost: what arrived, and what is in flight as far as
	 * that is reserved.
	 */
	charged(metered: MeteredUsage): MeteredUsage {
		if (!metered.isEstimated) return metered;
		this.#usage = metered.usage;
		const seen = this.#capped(Math.max(this.#seenTokens, metered.usage.outputTokens));
		let [covered, tooMany] = [seen, this.#owedTokens + 1];
		while (tooMany - covered > 1) {
			const tokens = Math.floor((covered + tooMany) / 2);
			if (this.#costOf(tokens) <= this.#reservedNanoUsd) covered = tokens;
			else tooMany = tokens;
		}
		return { ...metered, usage: { ...metered.usage, outputTokens: covered } };
	}

	/** What the provider would bill if the stream ended now. */
	get #owedTokens(): number {
		return this.#capped(this.#hiddenTokens + this.#seenTokens + this.#pace.inFlightTokens);
	}

	#capped(tokens: number): number {
		return Math.min(tokens, this.#terms.allowedTokens);
	}

	#costOf(tokens: number): bigint {
		const usage = this.#usage;
		return costNanoUsd({ ...usage, outputTokens: tokens, reasoningTokens: Math.min(usage.reasoningTokens, tokens) }, this.#terms.price);
	}

	#covers(tokens: number): boolean {
		return this.#costOf(this.#capped(tokens)) <= this.#reservedNanoUsd;
	}

	#judge(): void {
		if (this.#isOver) return;
		const next = this.#owedTokens + this.#pace.pieceTokens;
		if (this.#covers(next + this.#pace.tokensWithin(leadMs) + this.#pace.pieceTokens)) return;
		if (this.#isShort && !this.#covers(next)) {
			this.#stop();
			return;
		}
		const nowMs = this.#ports.clock.monotonicMs();
		if (this.#isAsking || (this.#isShort && nowMs - this.#askedMs < againMs)) return;
		this.#askedMs = nowMs;
		this.#isAsking = true;
		void this.#grow(next);
	}

	async #grow(next: number): Promise<void> {
		const { id, team, holds, holdMs, choices } = this.#terms;
		const least = leastTokens * choices;
		const soon = this.#pace.pieceTokens;
		const wantedTokens = next + Math.max(2 * least, this.#pace.tokensWithin(aheadMs), 2 * soon);
		const amountNanoUsd = this.#costOf(this.#capped(wantedTokens));
		const step = this.#costOf(next + least) - this.#costOf(next);
		const missing = this.#costOf(this.#capped(next + soon)) - this.#reservedNanoUsd;
		const leastNanoUsd = missing > step ? missing : step;
		try {
			const wanted = holds.map((hold) => ({ ...hold, amountNanoUsd, check: 'fit' as const, leastNanoUsd }));
			const reserved = (await this.#ports.admission.grow(id, team, wanted, holdMs)) ?? 0n;
			if (reserved > this.#reservedNanoUsd) this.#reservedNanoUsd = reserved;
			this.#isShort = reserved < amountNanoUsd;
		} catch (cause) {
			// Nobody knows what is left: the stream ends where its reservation does.
			this.#isShort = true;
			this.#ports.log.debug('a reservation could not grow', { requestId: id, cause });
		} finally {
			this.#isAsking = false;
		}
		if (!this.#isOver && this.#isShort && !this.#covers(this.#owedTokens + this.#pace.pieceTokens)) this.#stop();
	}

	#stop(): void {
		this.end();
		this.#ports.stop(new StreamStopped());
	}

	/** What nobody sees is taken for as much as it can be. */
	#watchHidden(): void {
		this.#timer = this.#ports.clock.after(hiddenMs, () => {
			if (this.#isOver || this.#seenTokens > 0) return;
			this.#hiddenTokens = this.#ports.hiddenTokens();
			this.#judge();
			if (!this.#isOver) this.#watchHidden();
		});
	}
}

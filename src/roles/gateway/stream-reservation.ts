/**
 * Reservation of a stream under `on_stream_over: stop`. It grows while the stream runs, and ends the stream before the budget is exceeded.
 */
import type { Clock, Timer } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import type { Price } from '../../core/price.ts';
import { Rejection } from '../../core/rejection.ts';
import type { Usage } from '../../core/usage.ts';
import { costNanoUsd } from '../../policy/budgets/cost.ts';
import { StreamPace } from '../../policy/budgets/stream-pace.ts';
import type { AdmissionStore, BudgetReservation } from '../../stores/contracts/admission.ts';
import type { MeteredUsage } from '../../wire/usage/usage-meter.ts';

/** Minimum step in which a reservation grows, per choice. */
const minTokens = 32;
/** Amount reserved ahead, in time or in chunks of the stream. Below `lead`, more is requested. */
const ahead = { ms: 1000, pieces: 8 };
const lead = { ms: 400, pieces: 4 };
/** Delay between two requests for more, after the budget had too little. */
const againMs = 200;
/** Interval of checks while reasoning may be hidden. */
const hiddenMs = 500;

/** Output tokens per choice. A request needs `min` to be admitted, and reserves `first` if the budget allows it. */
export const admittedTokens = { min: minTokens, first: 128 };

/** Ends a stream because its budget is exhausted. */
export class StreamStopped extends Rejection {
	constructor() {
		super('budget_exceeded', { message: 'The stream was stopped: the budget does not allow more output' });
	}
}

export interface StreamReservationSettings {
	readonly id: string;
	readonly team: string;
	readonly reservations: readonly BudgetReservation[];
	readonly reservationMs: number;
	readonly price: Price;
	readonly choices: number;
	/** Maximum output tokens by the request's cap, over all choices. */
	readonly allowedTokens: number;
	readonly reservedNanoUsd: bigint;
}

export interface StreamReservationPorts {
	readonly admission: Pick<AdmissionStore, 'grow'>;
	readonly clock: Clock;
	readonly log: Log;
	/** Returns the maximum hidden reasoning so far. */
	readonly hiddenTokens: () => number;
	/** Returns true if the response may have hidden reasoning. */
	readonly isBlind: (metered: MeteredUsage) => boolean;
	readonly stop: (reason: StreamStopped) => void;
}

export class StreamReservation {
	readonly #terms: StreamReservationSettings;
	readonly #ports: StreamReservationPorts;
	readonly #pace = new StreamPace();
	#reservedNanoUsd: bigint;
	/** Usage except the output. */
	#usage: Usage;
	#observedTokens = 0;
	#hiddenTokens = 0;
	/** Last growth of the hidden tokens, while no output is visible. */
	#hiddenStep = 0;
	#timer: Timer | undefined;
	#requestedMs = Number.NEGATIVE_INFINITY;
	#isExtending = false;
	/** True if the last request for more found too little. */
	#isShort = false;
	/** True if it found nothing at all. */
	#isEmpty = false;
	#isOver = false;
	#isStopped = false;
	/** True once the provider has reported its usage, possibly not for the last time. */
	#hasReported = false;

	/** @param usage before anything has arrived. */
	constructor(terms: StreamReservationSettings, usage: Usage, ports: StreamReservationPorts) {
		this.#terms = terms;
		this.#ports = ports;
		this.#usage = usage;
		this.#reservedNanoUsd = terms.reservedNanoUsd;
	}

	/** Called when the request was sent, possibly again: reasoning can start now. @param canHideReasoning see `isBlind`. */
	begin(canHideReasoning: boolean): void {
		if (canHideReasoning && !this.#isOver && this.#timer === undefined) this.#watchHidden();
	}

	/** Called for each part of the stream that has arrived. */
	arrived(metered: MeteredUsage): void {
		if (this.#isOver) return;
		const { usage } = metered;
		this.#usage = usage;
		if (usage.outputTokens > 0) {
			if (!metered.isEstimated) this.#hiddenTokens = 0;
			else if (this.#observedTokens === 0) this.#hiddenTokens = this.#ports.isBlind(metered) ? this.#ports.hiddenTokens() : 0;
			this.#hiddenStep = 0;
			this.#timer?.cancel();
			this.#observedTokens = Math.max(this.#observedTokens, usage.outputTokens);
			this.#pace.arrived(this.#observedTokens, metered.texts ?? 0, this.#ports.clock.monotonicMs());
		}
		// The first report is the last of most streams. Some providers report in every event.
		const isFirstReport = !metered.isEstimated && !this.#hasReported;
		if (!metered.isEstimated) this.#hasReported = true;
		if (!isFirstReport) this.#judge();
	}

	end(): void {
		this.#isOver = true;
		this.#timer?.cancel();
	}

	/**
	 * Returns the charge of a stream that ended before its provider reported usage: the received output, and the output in flight up to the
	 * reservation.
	 */
	charged(metered: MeteredUsage): MeteredUsage {
		if (!metered.isEstimated && !this.#isStopped) return metered;
		this.#usage = metered.usage;
		const seen = this.#capped(Math.max(this.#observedTokens, metered.usage.outputTokens));
		let [covered, tooMany] = [seen, this.#owedTokens + 1];
		while (tooMany - covered > 1) {
			const tokens = Math.floor((covered + tooMany) / 2);
			if (this.#costOf(tokens) <= this.#reservedNanoUsd) covered = tokens;
			else tooMany = tokens;
		}
		return { ...metered, usage: { ...metered.usage, outputTokens: covered }, isEstimated: true };
	}

	/** Tokens that the provider would bill if the stream ended now. */
	get #owedTokens(): number {
		return this.#capped(this.#hiddenTokens + this.#observedTokens + this.#pace.inFlightTokens);
	}

	/** Expected increase with the next chunk, or the next check of hidden reasoning. */
	get #stepTokens(): number {
		return Math.max(this.#pace.pieceTokens, this.#hiddenStep);
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
		const next = this.#owedTokens + this.#stepTokens;
		if (this.#covers(next + Math.max(this.#pace.tokensWithin(lead.ms), lead.pieces * this.#stepTokens))) return;
		if (this.#isShort && !this.#covers(next)) {
			this.#stop();
			return;
		}
		const nowMs = this.#ports.clock.monotonicMs();
		if (this.#isExtending || (this.#isEmpty && nowMs - this.#requestedMs < againMs)) return;
		this.#requestedMs = nowMs;
		this.#isExtending = true;
		void this.#grow(next);
	}

	async #grow(next: number): Promise<void> {
		const { id, team, reservations, reservationMs, choices } = this.#terms;
		const min = Math.max(minTokens * choices, this.#pace.tokensWithin(againMs));
		const soon = this.#stepTokens;
		const requestedTokens = next + Math.max(2 * min, this.#pace.tokensWithin(ahead.ms), ahead.pieces * soon);
		const amountNanoUsd = this.#costOf(this.#capped(requestedTokens));
		const step = this.#costOf(next + min) - this.#costOf(next);
		const missing = this.#costOf(this.#capped(next + 2 * soon)) - this.#reservedNanoUsd;
		const minNanoUsd = missing > step ? missing : step;
		try {
			const wanted = reservations.map((reservation) => ({ ...reservation, amountNanoUsd, check: 'fit' as const, minNanoUsd }));
			const reserved = (await this.#ports.admission.grow(id, team, wanted, reservationMs)) ?? 0n;
			this.#isEmpty = reserved <= this.#reservedNanoUsd;
			if (!this.#isEmpty) this.#reservedNanoUsd = reserved;
			this.#isShort = reserved < amountNanoUsd;
		} catch (cause) {
			// The remaining budget is unknown, so the stream ends at its reservation.
			this.#isShort = true;
			this.#isEmpty = true;
			this.#ports.log.debug('a reservation could not grow', { requestId: id, cause });
		} finally {
			this.#isExtending = false;
		}
		if (!this.#isOver && this.#isShort && !this.#covers(this.#owedTokens + this.#stepTokens)) this.#stop();
	}

	#stop(): void {
		this.#isStopped = true;
		this.end();
		this.#ports.stop(new StreamStopped());
	}

	/** Assumes the maximum of hidden reasoning. */
	#watchHidden(): void {
		this.#timer = this.#ports.clock.after(hiddenMs, () => {
			if (this.#isOver || this.#observedTokens > 0) return;
			const hiddenTokens = this.#ports.hiddenTokens();
			this.#hiddenStep = hiddenTokens - this.#hiddenTokens;
			this.#hiddenTokens = hiddenTokens;
			this.#judge();
			if (!this.#isOver) this.#watchHidden();
		});
	}
}

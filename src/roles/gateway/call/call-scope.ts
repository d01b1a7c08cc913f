import { Fault } from '../../../core/fault.ts';
import type { Log } from '../../../core/log.ts';
import type { Listed, OpenList } from '../../../core/open-list.ts';
import { Refusal } from '../../../core/refusal.ts';
import { RequestRecord } from './request-record.ts';

/** How a request ended: what it held is settled and released by this. */
export interface RequestOutcome {
	/**
	 * `completed`: the client gets the whole response. `upstream_error`: the provider responded with an error, or reported one in its
	 * stream. The others ended the request before that.
	 */
	readonly kind: 'completed' | 'upstream_error' | 'client_disconnected' | 'rejected' | 'draining' | 'provider_failed' | 'internal_error';
	/** Of the client's response. */
	readonly status: number;
	/** In the request's log line; undefined: the response reports no error of ours. */
	readonly code: string | undefined;
	/** The gateway or the client ended it before the provider could report its usage. */
	readonly isEarly: boolean;
}

export function completed(status: number): RequestOutcome {
	return { kind: 'completed', status, code: undefined, isEarly: false };
}

export function upstreamError(status: number, code: string | undefined): RequestOutcome {
	return { kind: 'upstream_error', status, code, isEarly: false };
}

/** @param cause anything that was thrown, or that the request was aborted with. */
export function failed(cause: unknown): RequestOutcome {
	if (cause instanceof Fault) return { kind: 'provider_failed', status: cause.status, code: cause.code, isEarly: false };
	if (!(cause instanceof Refusal)) return { kind: 'internal_error', status: 500, code: 'internal_error', isEarly: false };
	const { status, code } = cause;
	if (code === 'draining') return { kind: 'draining', status, code, isEarly: false };
	return { kind: code === 'client_closed' ? 'client_disconnected' : 'rejected', status, code, isEarly: true };
}

/** Why a request is aborted before its response is complete. */
export type AbortReason = Refusal | Fault;

/** Something that a request has acquired. */
export interface Held {
	/** Called once, by the end of the request, unless the scope has dropped it before. */
	release(outcome: RequestOutcome): void;
	/** The request was aborted: what goes on for it winds down. */
	abort?(reason: AbortReason): void;
}

/** One of a provider's slots. Each attempt has its own. */
export interface Slot {
	release(): void;
}

/**
 * One request, from its arrival to its end. It holds all that the request acquires, and its one `end` releases that, however the request
 * ended. An abort is not the end: it tells what goes on to stop, which then ends the request.
 */
export class CallScope implements Listed {
	readonly record = new RequestRecord();
	listIndex = -1;
	/** When its first attempt came, by the monotonic clock: all attempts share one time limit. */
	firstAttemptMs: number | undefined;
	readonly #requestId: string;
	readonly #log: Log;
	/** The last acquired is released first. */
	readonly #held: Held[] = [];
	#slot: Slot | undefined;
	#list: OpenList<CallScope> | undefined;
	#abortReason: AbortReason | undefined;
	#outcome: RequestOutcome | undefined;

	constructor(requestId: string, log: Log) {
		this.#requestId = requestId;
		this.#log = log;
	}

	get isAborted(): boolean {
		return this.#abortReason !== undefined;
	}

	/** Undefined until the end. */
	get outcome(): RequestOutcome | undefined {
		return this.#outcome;
	}

	/** @throws what the request was aborted with. */
	requireRunning(): void {
		if (this.#abortReason !== undefined) throw this.#abortReason;
	}

	/** Lists it, until its end, with those that a shutdown aborts. */
	enlist(list: OpenList<CallScope>): void {
		this.#list = list;
		list.add(this);
	}

	/** @throws Error when the request has ended; what it acquired too late is released. */
	hold(held: Held): void {
		if (this.#outcome !== undefined) {
			this.#release(held, this.#outcome);
			throw new Error('the request has ended and cannot acquire resources');
		}
		this.#held.push(held);
		const reason = this.#abortReason;
		if (reason === undefined || held.abort === undefined) return;
		// The owner returns from `hold` before it is aborted.
		queueMicrotask(() => this.#abort(held, reason));
	}

	/** Holds it no longer: its owner has released it, or passed it on. */
	drop(held: Held | undefined): void {
		const index = held === undefined ? -1 : this.#held.lastIndexOf(held);
		if (index !== -1) this.#held.splice(index, 1);
	}

	holdSlot(slot: Slot): void {
		if (this.#outcome === undefined && this.#abortReason === undefined) this.#slot = slot;
		else slot.release();
	}

	/** Before the end: the provider has nothing to do for the request at the moment. */
	releaseSlot(): void {
		const slot = this.#slot;
		this.#slot = undefined;
		slot?.release();
	}

	/**
	 * Waits for what comes by callbacks. An abort cancels it and rejects with its reason.
	 * @param begin returns what cancels it.
	 */
	wait<Value>(begin: (resolve: (value: Value) => void, reject: (cause: unknown) => void) => () => void): Promise<Value> {
		let waiting: Held | undefined;
		return new Promise<Value>((resolve, reject) => {
			const cancel = begin(resolve, reject);
			const stop = (cause: unknown): void => {
				cancel();
				reject(cause);
			};
			waiting = { abort: stop, release: () => stop(new Error('the request ended while it waited')) };
			this.hold(waiting);
		}).finally(() => this.drop(waiting));
	}

	/** The first one counts. */
	abort(reason: AbortReason): void {
		if (this.#abortReason !== undefined || this.#outcome !== undefined) return;
		this.#abortReason = reason;
		for (const held of [...this.#held]) this.#abort(held, reason);
		this.#safely(() => this.releaseSlot());
	}

	/** The first one counts. Releases everything, whatever throws meanwhile. */
	end(outcome: RequestOutcome): void {
		if (this.#outcome !== undefined) return;
		this.#outcome = outcome;
		this.#list?.remove(this);
		if (this.#slot !== undefined) this.#safely(() => this.releaseSlot());
		for (let held = this.#held.pop(); held !== undefined; held = this.#held.pop()) this.#release(held, outcome);
		this.record.end(outcome.code);
	}

	/** Unless it was released or dropped meanwhile. */
	#abort(held: Held, reason: AbortReason): void {
		if (this.#held.includes(held)) this.#safely(() => held.abort?.(reason));
	}

	#release(held: Held, outcome: RequestOutcome): void {
		try {
			held.release(outcome);
		} catch (cause) {
			this.#logDefect(cause);
		}
	}

	/** As `#release`, for what is rare: it takes a closure. */
	#safely(release: () => void): void {
		try {
			release();
		} catch (cause) {
			this.#logDefect(cause);
		}
	}

	#logDefect(cause: unknown): void {
		const stack = cause instanceof Error ? cause.stack : String(cause);
		this.#log.error('a resource of a request could not be released', { requestId: this.#requestId, stack });
	}
}

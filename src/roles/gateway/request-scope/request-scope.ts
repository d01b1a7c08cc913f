import type { Log } from '../../../core/log.ts';
import { Rejection } from '../../../core/rejection.ts';
import type { Listed, SwapRemoveList } from '../../../core/swap-remove-list.ts';
import { UpstreamError } from '../../../core/upstream-error.ts';
import { RequestRecorder } from './request-recorder.ts';

/** End of a request, by which its resources are settled and released. */
export interface ScopeOutcome {
	/**
	 * `completed`: the client gets the complete response. `upstream_error`: the provider responded with an error, or reported one in its
	 * stream. The others ended the request before that.
	 */
	readonly kind: 'completed' | 'upstream_error' | 'client_disconnected' | 'rejected' | 'draining' | 'provider_failed' | 'internal_error';
	/** Status of the client's response. */
	readonly status: number;
	/** Error code in the request's log line; undefined if the response reports no error of the gateway. */
	readonly code: string | undefined;
	/** True if the gateway or the client ended the request before the provider could report its usage. */
	readonly isEarly: boolean;
}

export function completed(status: number): ScopeOutcome {
	return { kind: 'completed', status, code: undefined, isEarly: false };
}

export function upstreamError(status: number, code: string | undefined): ScopeOutcome {
	return { kind: 'upstream_error', status, code, isEarly: false };
}

/** @param cause any thrown value, or the reason of an abort. */
export function failed(cause: unknown): ScopeOutcome {
	if (cause instanceof UpstreamError) return { kind: 'provider_failed', status: cause.status, code: cause.code, isEarly: false };
	if (!(cause instanceof Rejection)) return { kind: 'internal_error', status: 500, code: 'internal_error', isEarly: false };
	const { status, code } = cause;
	if (code === 'draining') return { kind: 'draining', status, code, isEarly: false };
	return { kind: code === 'client_closed' ? 'client_disconnected' : 'rejected', status, code, isEarly: true };
}

/** Reason why a request is aborted before its response is complete. */
export type AbortReason = Rejection | UpstreamError;

/** A resource that a request has acquired. */
export interface Resource {
	/** Called once, at the end of the request, unless the scope has dropped the resource before. */
	release(outcome: ScopeOutcome): void;
	/** Called when the request is aborted, so that its work stops. */
	abort?(reason: AbortReason): void;
}

/** One of a provider's slots. Each attempt has its own. */
export interface Slot {
	release(): void;
}

/**
 * One request, from its arrival to its end. It owns all resources of the request, and its single `end` releases them, however the request
 * ended. An abort is not the end: it stops the running work, which then ends the request.
 */
export class RequestScope implements Listed {
	readonly recorder = new RequestRecorder();
	listIndex = -1;
	/** Start of the first attempt by the monotonic clock: all attempts share one time limit. */
	firstAttemptMs: number | undefined;
	readonly #requestId: string;
	readonly #log: Log;
	/** Resources in order of acquisition; the last is released first. */
	readonly #reserved: Resource[] = [];
	#slot: Slot | undefined;
	#list: SwapRemoveList<RequestScope> | undefined;
	#abortReason: AbortReason | undefined;
	#outcome: ScopeOutcome | undefined;

	constructor(requestId: string, log: Log) {
		this.#requestId = requestId;
		this.#log = log;
	}

	get isAborted(): boolean {
		return this.#abortReason !== undefined;
	}

	/** Undefined until the end. */
	get outcome(): ScopeOutcome | undefined {
		return this.#outcome;
	}

	/** @throws the reason of an abort. */
	requireRunning(): void {
		if (this.#abortReason !== undefined) throw this.#abortReason;
	}

	/** Adds the request, until its end, to the list that a shutdown aborts. */
	enlist(list: SwapRemoveList<RequestScope>): void {
		this.#list = list;
		list.add(this);
	}

	/** Adds a resource. @throws Error if the request has ended; the late resource is released. */
	attach(reserved: Resource): void {
		if (this.#outcome !== undefined) {
			this.#release(reserved, this.#outcome);
			throw new Error('the request has ended and cannot acquire resources');
		}
		this.#reserved.push(reserved);
		const reason = this.#abortReason;
		if (reason === undefined || reserved.abort === undefined) return;
		// Deferred, so that the owner returns from `attach` before it is aborted.
		queueMicrotask(() => this.#abort(reserved, reason));
	}

	/** Removes a resource that its owner has released or passed on. */
	drop(reserved: Resource | undefined): void {
		const index = reserved === undefined ? -1 : this.#reserved.lastIndexOf(reserved);
		if (index !== -1) this.#reserved.splice(index, 1);
	}

	trackSlot(slot: Slot): void {
		if (this.#outcome === undefined && this.#abortReason === undefined) this.#slot = slot;
		else slot.release();
	}

	/** Releases the slot before the end, while the provider does nothing for the request. */
	releaseSlot(): void {
		const slot = this.#slot;
		this.#slot = undefined;
		slot?.release();
	}

	/**
	 * Waits for a callback. An abort cancels the wait and rejects with its reason.
	 * @param begin returns a function that cancels.
	 */
	wait<Value>(begin: (resolve: (value: Value) => void, reject: (cause: unknown) => void) => () => void): Promise<Value> {
		let waiting: Resource | undefined;
		return new Promise<Value>((resolve, reject) => {
			const cancel = begin(resolve, reject);
			const stop = (cause: unknown): void => {
				cancel();
				reject(cause);
			};
			waiting = { abort: stop, release: () => stop(new Error('the request ended while it waited')) };
			this.attach(waiting);
		}).finally(() => this.drop(waiting));
	}

	/** Aborts the request; further calls have no effect. */
	abort(reason: AbortReason): void {
		if (this.#abortReason !== undefined || this.#outcome !== undefined) return;
		this.#abortReason = reason;
		for (const reserved of [...this.#reserved]) this.#abort(reserved, reason);
		this.#safely(() => this.releaseSlot());
	}

	/** Ends the request; further calls have no effect. Releases all resources, even if some of them throw. */
	end(outcome: ScopeOutcome): void {
		if (this.#outcome !== undefined) return;
		this.#outcome = outcome;
		this.#list?.remove(this);
		if (this.#slot !== undefined) this.#safely(() => this.releaseSlot());
		for (let reserved = this.#reserved.pop(); reserved !== undefined; reserved = this.#reserved.pop()) this.#release(reserved, outcome);
		this.recorder.end(outcome.code);
	}

	/** Skips a resource that was released or dropped meanwhile. */
	#abort(reserved: Resource, reason: AbortReason): void {
		if (this.#reserved.includes(reserved)) this.#safely(() => reserved.abort?.(reason));
	}

	#release(reserved: Resource, outcome: ScopeOutcome): void {
		try {
			reserved.release(outcome);
		} catch (cause) {
			this.#logInternalError(cause);
		}
	}

	/** Like `#release`, for rare cases: it takes a closure. */
	#safely(release: () => void): void {
		try {
			release();
		} catch (cause) {
			this.#logInternalError(cause);
		}
	}

	#logInternalError(cause: unknown): void {
		const stack = cause instanceof Error ? cause.stack : String(cause);
		this.#log.error('a resource of a request could not be released', { requestId: this.#requestId, stack });
	}
}

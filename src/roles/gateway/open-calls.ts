import type { Fault } from '../../core/fault.ts';
import type { HttpRequest } from '../../core/handler.ts';
import { type Listed, OpenList } from '../../core/open-list.ts';
import { Refusal } from '../../core/refusal.ts';
import type { BodyHold } from '../../policy/overload/body-space.ts';
import type { GatewayFacts } from './gateway-facts.ts';

/** Why a call ends before its answer is complete. */
export type EndReason = Refusal | Fault;

/** One of a provider's slots, held by a request while the provider works for it. */
export interface Slot {
	release(): void;
}

/** One inference call, from the moment it is read until its last byte has left or it was ended from outside. */
export class OpenCall implements Listed {
	#reason: EndReason | undefined;
	#listener: ((reason: EndReason) => void) | undefined;
	readonly #calls: OpenList<OpenCall>;
	listIndex = -1;
	readonly facts: GatewayFacts;
	/** When its first provider's turn came, by the monotonic clock: the time for the whole call is one, whatever is tried. */
	calledMs: number | undefined;
	#slot: Slot | undefined;
	readonly #hold: BodyHold;

	constructor(request: HttpRequest, facts: GatewayFacts, hold: BodyHold, calls: OpenList<OpenCall>) {
		this.facts = facts;
		this.#hold = hold;
		this.#calls = calls;
		calls.add(this);
		request.onClientGone(() => this.end(new Refusal('client_closed')));
	}

	get isEnded(): boolean {
		return this.#reason !== undefined;
	}

	/** @throws what the call was ended with. */
	requireRunning(): void {
		if (this.#reason !== undefined) throw this.#reason;
	}

	/** Who holds the call now ends it by this; replaces the earlier holder's. Runs in a later turn when it has ended already. */
	whenEnded(listener: (reason: EndReason) => void): void {
		const reason = this.#reason;
		if (reason === undefined) this.#listener = listener;
		else queueMicrotask(() => listener(reason));
	}

	/** Until `releaseSlot`, or the end of the call. */
	holdSlot(slot: Slot): void {
		this.#slot = slot;
	}

	releaseSlot(): void {
		const slot = this.#slot;
		this.#slot = undefined;
		slot?.release();
	}

	end(reason: EndReason): void {
		if (this.isEnded || this.listIndex === -1) return;
		this.#reason = reason;
		this.#listener?.(reason);
		this.releaseSlot();
	}

	/** The answer is complete, or will never be. */
	close(): void {
		this.#calls.remove(this);
		this.#listener = undefined;
		this.releaseSlot();
		this.#hold.release();
	}
}

export class OpenCalls {
	readonly #calls = new OpenList<OpenCall>();

	get count(): number {
		return this.#calls.size;
	}

	get streamCount(): number {
		let count = 0;
		this.#calls.each(({ facts }) => {
			if (facts.isStreamed === true) count++;
		});
		return count;
	}

	/** @param hold the room of its body, which is freed at the end: until then somebody may have to send it. */
	open(request: HttpRequest, facts: GatewayFacts, hold: BodyHold): OpenCall {
		return new OpenCall(request, facts, hold, this.#calls);
	}

	/** Ends every call: streams by an error event, the others by an error answer. */
	endAll(): void {
		const reason = new Refusal('draining', { message: 'The gateway is shutting down: retry', retryAfterSeconds: 1 });
		this.#calls.each((call) => call.end(reason));
	}
}

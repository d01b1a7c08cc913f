import type { Fault } from '../../core/fault.ts';
import type { HttpRequest } from '../../core/handler.ts';
import { Refusal } from '../../core/refusal.ts';
import type { GatewayFacts } from './gateway-facts.ts';

/** Why a call ends before its answer is complete. */
export type EndReason = Refusal | Fault;

/** One inference call, from the moment it is read until its last byte has left or it was ended from outside. */
export class OpenCall {
	#reason: EndReason | undefined;
	#listener: ((reason: EndReason) => void) | undefined;
	readonly #calls: Set<OpenCall>;
	readonly facts: GatewayFacts;

	constructor(request: HttpRequest, facts: GatewayFacts, calls: Set<OpenCall>) {
		this.facts = facts;
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

	end(reason: EndReason): void {
		if (this.isEnded || !this.#calls.has(this)) return;
		this.#reason = reason;
		this.#listener?.(reason);
	}

	/** The answer is complete, or will never be. */
	close(): void {
		this.#calls.delete(this);
		this.#listener = undefined;
	}
}

export class OpenCalls {
	readonly #calls = new Set<OpenCall>();

	get count(): number {
		return this.#calls.size;
	}

	open(request: HttpRequest, facts: GatewayFacts): OpenCall {
		return new OpenCall(request, facts, this.#calls);
	}

	/** Ends every call: streams by an error event, the others by an error answer. */
	endAll(): void {
		const reason = new Refusal('draining', { message: 'The gateway is shutting down: retry', retryAfterSeconds: 1 });
		for (const call of [...this.#calls]) call.end(reason);
	}
}

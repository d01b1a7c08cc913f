import type { GatewayParts } from '../gateway-parts.ts';
import type { CallScope } from './call-scope.ts';
import type { BodyEdits, Permit } from './permit.ts';

interface Admitted {
	readonly id: string;
	readonly team: string;
	/** Counter of the request, by default the team's. */
	readonly counter: string;
}

/** Permit of a request that costs nothing. It counts on a separate limit and has no ledger entry. */
export class FreePermit implements Permit {
	readonly edits: BodyEdits = { capEdits: [], usageEdits: [] };
	readonly mayCost = false;
	readonly answered = undefined;
	readonly #admitted: Admitted;
	readonly #parts: GatewayParts;

	/** @param scope holds it from now on. */
	constructor(admitted: Admitted, scope: CallScope, parts: GatewayParts) {
		this.#admitted = admitted;
		this.#parts = parts;
		scope.hold(this);
	}

	markSent(): void {}

	markDeclined(): void {}

	meterAnswered(): void {}

	release(): void {
		giveBack(this.#admitted, this.#parts);
	}
}

/** Releases a request without cost from the counters. The client does not wait for it. */
export function giveBack({ id, team, counter }: Admitted, { ports, work: { settlements } }: GatewayParts): void {
	settlements.begin();
	const failed = (cause: unknown): void => {
		ports.log.error('counters could not be told that a request has ended', { requestId: id, team, cause });
	};
	void ports.admission
		.release(id, counter)
		.catch(failed)
		.then(() => settlements.end());
}

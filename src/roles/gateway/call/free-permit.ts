import type { GatewayParts } from '../gateway-parts.ts';
import type { CallScope } from './call-scope.ts';
import type { BodyEdits, Permit } from './permit.ts';

interface Admitted {
	readonly id: string;
	readonly team: string;
	/** That the request was counted on; the team's own as a rule. */
	readonly counter: string;
}

/** Of a request that costs nothing: it has taken one of a limit of its own, and the ledger does not know it. */
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

/** Tells the counters that a request has ended which nothing was booked for. The client does not wait for it. */
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

import type { GatewayParts } from '../gateway-parts.ts';
import type { CallScope } from './call-scope.ts';
import type { BodyEdits, Permit } from './permit.ts';

const noEdits: BodyEdits = { capEdits: [], usageEdits: [] };

/** Of a request that costs nothing: it has taken one of a limit of its own, and the ledger does not know it. */
export class FreePermit implements Permit {
	readonly edits = noEdits;
	readonly mayCost = false;
	readonly answered = undefined;
	readonly #row: { readonly id: string; readonly team: string };
	readonly #counter: string;
	readonly #parts: GatewayParts;

	/** @param counter that the request was admitted by. @param scope holds it from now on. */
	constructor(row: { readonly id: string; readonly team: string }, counter: string, scope: CallScope, parts: GatewayParts) {
		this.#row = row;
		this.#counter = counter;
		this.#parts = parts;
		scope.hold(this);
	}

	markSent(): void {}

	markDeclined(): void {}

	meterAnswered(): void {}

	/** The client does not wait for it. */
	release(): void {
		const { ports, work } = this.#parts;
		const { id, team } = this.#row;
		work.settlements.begin();
		const failed = (cause: unknown): void => {
			ports.log.error('counters could not be told that a request has ended', { requestId: id, team, cause });
		};
		void ports.admission
			.release(id, this.#counter)
			.catch(failed)
			.then(() => work.settlements.end());
	}
}

import type { Edit } from '../../../wire/json/splice-body.ts';
import type { MeteredUsage, ToldAnswer } from '../../../wire/usage/usage-meter.ts';
import type { GatewayParts } from '../gateway-parts.ts';
import type { CallScope, Held } from './call-scope.ts';

/** What is changed in a request on its way to the provider. */
export interface BodyEdits {
	/** Edits to the output cap, where the gateway sets it. */
	readonly capEdits: readonly Edit[];
	readonly usageEdits: readonly Edit[];
}

/** Proof that a request was admitted, which calling a provider demands. Only admission makes one; the scope of the request ends it. */
export interface Permit extends Held {
	readonly edits: BodyEdits;
	/** The provider may charge for the request although it sent no response. */
	readonly mayCost: boolean;
	/** The request begins to leave: the provider may charge for it. @throws Fault `records_unavailable` when it must not. */
	markSent(): void;
	/** The provider answered with an error: it charges nothing for that. */
	markDeclined(): void;
	/** The provider sent a complete response. The charge does not depend on what the client gets. */
	meterAnswered(body: Buffer, told: ToldAnswer | undefined): void;
	/** As it is charged, of an answer that came whole. */
	readonly answered: MeteredUsage | undefined;
}

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
		releaseCounters(this.#admitted, this.#parts);
	}
}

/** Releases a request without cost from the counters. The client does not wait for it. */
export function releaseCounters({ id, team, counter }: Admitted, { ports, work: { settlements } }: GatewayParts): void {
	settlements.begin();
	const failed = (cause: unknown): void => {
		ports.log.error('a reservation could not be released in the counter store', { requestId: id, team, cause });
	};
	void ports.admission
		.release(id, counter)
		.catch(failed)
		.then(() => settlements.end());
}

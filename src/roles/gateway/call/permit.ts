import type { Edit } from '../../../wire/json/splice-body.ts';
import type { MeteredUsage, ToldAnswer } from '../../../wire/usage/usage-meter.ts';
import type { Held } from './call-scope.ts';

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

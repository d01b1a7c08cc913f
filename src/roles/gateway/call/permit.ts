import type { Edit } from '../../../wire/json/splice-body.ts';
import type { MeteredUsage, ToldAnswer } from '../../../wire/usage/usage-meter.ts';
import type { Held } from './call-scope.ts';

/** What is changed in a request on its way to the provider. */
export interface BodyEdits {
	/** What caps the output in the request, where that is the gateway's doing. */
	readonly capEdits: readonly Edit[];
	readonly usageEdits: readonly Edit[];
}

/** Proof that a request was admitted, which calling a provider demands. Only admission makes one; the scope of the request ends it. */
export interface Permit extends Held {
	readonly edits: BodyEdits;
	/** Whether the provider may charge for what it was sent, though it gave no answer. */
	readonly mayCost: boolean;
	/** The request begins to leave: the provider may charge for it. @throws Fault `records_unavailable` when it must not. */
	markSent(): void;
	/** The provider answered with an error: it charges nothing for that. */
	markDeclined(): void;
	/** The provider answered whole, but what the caller gets is not decided: it costs the same whatever that is. */
	meterAnswered(body: Buffer, told: ToldAnswer | undefined): void;
	/** As it is charged, of an answer that came whole. */
	readonly answered: MeteredUsage | undefined;
}

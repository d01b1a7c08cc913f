/** Events to deliver to webhooks, and the log of their deliveries. Each backend passes `webhook-deliveries.contract.ts` unchanged. */

export const deliveryStates = ['pending', 'delivered', 'failed'] as const;

export type DeliveryState = (typeof deliveryStates)[number];

export interface DeliveryKey {
	/** Name of the webhook. */
	readonly webhook: string;
	/** The same for every process that notices the same. */
	readonly eventId: string;
}

export interface NewDelivery extends DeliveryKey {
	readonly event: string;
	/** JSON text, sent unchanged with every attempt. */
	readonly body: string;
	/** Unix milliseconds. */
	readonly createdMs: number;
	/** Unix milliseconds until which the delivery stays in the log, so that the same event is not added again. */
	readonly keptUntilMs: number;
}

export interface AttemptOutcome {
	readonly state: DeliveryState;
	readonly attempts: number;
	readonly lastAttemptMs: number | null;
	/** Unix milliseconds; null once ended. */
	readonly nextAttemptMs: number | null;
	/** HTTP status of the last response. */
	readonly status: number | null;
	/** Reason of the last failure. Contains no secrets. */
	readonly error: string | null;
}

export interface Delivery extends NewDelivery, AttemptOutcome {}

export interface DeliveryQuery {
	readonly webhook?: string | undefined;
	readonly event?: string | undefined;
	readonly state?: DeliveryState | undefined;
	/** 1 to 1,000. */
	readonly limit: number;
	/** From an earlier page. */
	readonly cursor?: string | undefined;
}

export interface DeliveryPage {
	readonly deliveries: readonly Delivery[];
	readonly nextCursor: string | null;
}

/** Every method fails with `UpstreamError` `records_unavailable`. Changes are not announced. */
/** Time since the next attempt was due after which a pending delivery counts as abandoned. */
export const maxAbandonedMs = 7 * 24 * 3_600_000;

export interface WebhookDeliveries {
	/**
	 * Adds deliveries that the webhook does not have yet, in one step.
	 * @param outcome default: pending, to be tried at once.
	 */
	add(deliveries: readonly NewDelivery[], outcome?: AttemptOutcome): Promise<void>;
	/**
	 * Records the state of a subject and, only if that changed it, adds the deliveries, in one step.
	 * @returns true if the state changed. A subject without a state has the state `''`.
	 */
	change(subject: string, state: string, deliveries: readonly NewDelivery[]): Promise<boolean>;
	/** Returns the subjects in a state. */
	subjectsIn(state: string): Promise<readonly string[]>;
	/** Takes due deliveries of a webhook, oldest attempt first, and postpones their next attempt. No other process takes them until then. */
	take(webhook: string, nowMs: number, untilMs: number, limit: number): Promise<readonly Delivery[]>;
	/** Records the outcome of an attempt. A delivery that has ended stays as it is. */
	note(key: DeliveryKey, outcome: AttemptOutcome): Promise<void>;
	/** Lists deliveries, newest first. @throws RangeError for a cursor that no page returned. */
	list(query: DeliveryQuery): Promise<DeliveryPage>;
	/**
	 * Removes ended deliveries beyond the newest `maxPerWebhook` of a webhook, except those that must be kept, and pending ones of webhooks
	 * that no process delivers to.
	 */
	sweep(maxPerWebhook: number, nowMs: number): Promise<void>;
}

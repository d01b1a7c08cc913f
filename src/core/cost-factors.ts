/** Factors of what a request costs: its dialect finds them, and budgets make an amount of them. */

/**
 * Whether a request may write to a prompt cache, and for how long. A cache write costs more than other input on some models, so a
 * worst case has to know.
 */
export type CacheWrites = 'none' | 'short' | 'hour';

/** Input that its bytes do not tell the size of. */
export interface InputContent {
	readonly attachments: number;
	/** Part of the request's bytes that is no text: data and addresses of attachments. */
	readonly attachedBytes: number;
	readonly hasTools: boolean;
	/** Whether the response must follow a schema. */
	readonly hasSchema: boolean;
	/** Tools that the provider defines and the client runs. */
	readonly definedTools: number;
	/** Tools that the provider runs. */
	readonly serverTools: number;
}

/** Fields by which clients choose what costs more than a model's list price, each with the values that do not. */
export type Surcharges = Readonly<Record<string, ReadonlySet<unknown>>>;

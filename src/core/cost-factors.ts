/** Factors of a request's cost. Its dialect finds them, and budgets compute an amount from them. */

/**
 * Prompt cache writes that a request may cause, by lifetime. A cache write costs more than other input on some models, so the worst case
 * includes it.
 */
export type CacheWrites = 'none' | 'short' | 'hour';

/** Input whose size in tokens does not follow from its bytes. */
export interface InputContent {
	readonly attachments: number;
	/** Bytes of the request that are not text: data and addresses of attachments. */
	readonly attachedBytes: number;
	readonly hasTools: boolean;
	/** True if the response must follow a schema. */
	readonly hasSchema: boolean;
	/** Number of tools that the provider defines and the client runs. */
	readonly definedTools: number;
	/** Number of tools that the provider runs. */
	readonly serverTools: number;
}

/** Fields by which clients choose options above a model's list price, each with the values that cost nothing extra. */
export type Surcharges = Readonly<Record<string, ReadonlySet<unknown>>>;

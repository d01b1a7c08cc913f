/** Factors of a request's cost. Its dialect finds them, and budgets compute an amount from them. */

/**
 * Prompt cache writes that a request may cause, by lifetime. A cache write costs more than other input on some models, so the worst case
 * includes it.
 */
export type CacheWrites = 'none' | 'short' | 'hour';

/** Texts and token ids of a request whose other members are no input. */
export interface PromptSize {
	/** Number of texts and of lists of token ids, each of which can be as long as the model's context. */
	readonly count: number;
	/** Number of texts, each of which is at least one token. */
	readonly texts: number;
	/** Bytes of the texts in UTF-8. */
	readonly bytes: number;
	/** Number of token ids. */
	readonly tokenIds: number;
}

/** Input whose size in tokens does not follow from its bytes. */
export interface InputContent {
	/** Input that is measured in place of the request's bytes. */
	readonly prompt?: PromptSize;
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

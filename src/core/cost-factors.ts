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

/** Input of a request, without the limits of a model. */
export interface MeasuredInput {
	/** Estimate of the input tokens. */
	readonly writtenTokens: number;
	/** Upper bound of the input tokens that the bytes show. */
	readonly boundTokens: number;
	/** Context windows that can be filled by input whose bytes do not show its size; 0: none. */
	readonly contextWindows: number;
	/** Number of prompts, each of which can be as long as the model's context. */
	readonly prompts: number;
}

/** Numbers of a request on which its reservation depends. They are recorded, so that a replay reserves the same. */
export interface RequestSize extends MeasuredInput {
	/** Output limit of one choice in the request to the provider; null: none. */
	readonly capTokens: number | null;
	/** True if the client set that limit; false if a translation added it. */
	readonly hasOwnCap: boolean;
	readonly choices: number;
	/** Output of one choice if the client sets no limit; null: as much as the model allows. */
	readonly defaultTokens: number | null;
	readonly cacheWrites: CacheWrites;
	/** True if the provider may run tools that it charges by the call. */
	readonly hasHostedTools: boolean;
	/** Limit of their calls that the client set; null: none. */
	readonly maxToolCalls: number | null;
	/** Field that selects an option above the list price; null: none. */
	readonly surchargedField: string | null;
	/** Null if the request does not set it. */
	readonly requestsThinking: boolean | null;
	/** True if the provider generates the response after the client has got its own. */
	readonly isBackground: boolean;
}

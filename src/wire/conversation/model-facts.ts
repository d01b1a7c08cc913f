/**
 * What operators may say of a model over what its name tells; what is left out goes by the name. Settings have the same names. The
 * format that is spoken with it is no fact of its own: it follows from the kind of its provider.
 */
export interface ModelFacts {
	/** The vendor's name of the model behind a free one, such as a deployment's: it is priced, capped and translated for as that. */
	readonly knownAs?: string | undefined;
	/** The most that it can write. */
	readonly maxOutputTokens?: number | undefined;
	/** The cap of a request that has none. */
	readonly defaultMaxTokens?: number | undefined;
	/** Whether it takes `temperature`, `top_p` and `top_k` freely, or their defaults alone. */
	readonly sampling?: 'full' | 'none' | undefined;
	/** The highest `temperature` that it takes. */
	readonly temperatureMax?: number | undefined;
	/** Whether it continues a conversation that ends with its own words. */
	readonly prefill?: boolean | undefined;
	/** Whether it takes the role `system` inside the conversation. */
	readonly midSystem?: boolean | undefined;
	/** How thinking is asked for: not at all, by a budget of tokens, or by an effort. */
	readonly thinking?: 'none' | 'enabled' | 'adaptive' | undefined;
	/** Values of `reasoning_effort`, `output_config.effort` or `thinkingLevel`, from the least to the greatest. */
	readonly efforts?: readonly string[] | undefined;
	/** The field that caps the output of chat completions. */
	readonly tokenParam?: 'max_tokens' | 'max_completion_tokens' | undefined;
	/** The role in which chat completions take instructions. */
	readonly systemRole?: 'system' | 'developer' | undefined;
	/** Whether it takes sequences to stop at. */
	readonly stop?: boolean | undefined;
	/** Whether it refuses function tools unless `reasoning_effort` is `none`. */
	readonly toolsNeedEffortNone?: boolean | undefined;
	/** Whether it can be held to a JSON schema. */
	readonly structuredOutput?: boolean | undefined;
	/** Version of the messages API that translated requests name. */
	readonly anthropicVersion?: string | undefined;
}

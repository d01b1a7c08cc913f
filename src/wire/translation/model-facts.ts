/** What an operator may say of a model over what its name tells. What is left out goes by the name. */
export interface ModelCapabilities {
	/** Whether it takes `temperature` and `top_p` freely. */
	readonly sampling?: boolean | undefined;
	/** Whether it continues a conversation that ends with its own words. */
	readonly prefill?: boolean | undefined;
	/** Whether it takes the role `system` inside the conversation. */
	readonly midSystem?: boolean | undefined;
	/** How thinking is asked for: not at all, by a budget of tokens, or by an effort. */
	readonly thinking?: 'none' | 'enabled' | 'adaptive' | undefined;
	/** Values of `reasoning_effort` or `output_config.effort`, from the least to the greatest. */
	readonly efforts?: readonly string[] | undefined;
	/** The field that caps the output of chat completions. */
	readonly capMember?: 'max_tokens' | 'max_completion_tokens' | undefined;
	/** The role in which chat completions take instructions. */
	readonly instructionRole?: 'system' | 'developer' | undefined;
	/** Whether it takes `stop`. */
	readonly stop?: boolean | undefined;
	/** Whether it refuses function tools unless `reasoning_effort` is `none`. */
	readonly toolsNeedNoEffort?: boolean | undefined;
}

import type { ConversationDialectName } from '../../core/dialect-name.ts';

/** Facts about a model that operators may configure; the rest follows from its name. Settings have the same names. */
export interface ModelCapabilities {
	/** Dialect of its conversations, if its provider serves several. By default the client's, or the provider's first. */
	readonly dialect?: ConversationDialectName | undefined;
	/** The vendor's name of the model behind a custom name, such as that of a deployment. It decides prices, caps and translation. */
	readonly knownAs?: string | undefined;
	/** Maximum number of output tokens. */
	readonly maxOutputTokens?: number | undefined;
	/** Cap for requests without one. */
	readonly defaultMaxTokens?: number | undefined;
	/** `full`: the model takes any `temperature`, `top_p` and `top_k`. `none`: it takes only their defaults. */
	readonly sampling?: 'full' | 'none' | undefined;
	readonly temperatureMax?: number | undefined;
	/** True if the model continues a conversation that ends with an assistant message. */
	readonly prefill?: boolean | undefined;
	/** True if the model takes the role `system` inside the conversation. */
	readonly midSystem?: boolean | undefined;
	/** Control of thinking: none, a token budget, or an effort. */
	readonly thinking?: 'none' | 'enabled' | 'adaptive' | undefined;
	/** Values of `reasoning_effort`, `output_config.effort` or `thinkingLevel`, ascending. */
	readonly efforts?: readonly string[] | undefined;
	/** Field that caps the output of chat completions. */
	readonly tokenParam?: 'max_tokens' | 'max_completion_tokens' | undefined;
	/** Role of instructions in chat completions. */
	readonly systemRole?: 'system' | 'developer' | undefined;
	/** True if the model takes stop sequences. */
	readonly stop?: boolean | undefined;
	/** True if the model rejects function tools unless `reasoning_effort` is `none`. */
	readonly toolsNeedEffortNone?: boolean | undefined;
	/** True if tool calls must be sent back with the reasoning of their turn, in `reasoning_content`. */
	readonly needsReasoningContent?: boolean | undefined;
	/** True if the model supports structured output with a JSON schema. */
	readonly structuredOutput?: boolean | undefined;
	/** Version of the messages API for translated requests. */
	readonly anthropicVersion?: string | undefined;
}

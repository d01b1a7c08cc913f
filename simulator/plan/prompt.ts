/** Prompt for a model, in any wire dialect. */
import type { JsonObject } from '../json-value.ts';

export interface Prompt extends Omit<PlannedPrompt, 'segmentCount'> {
	/** All model input in the order of prompt caching: tools, system, messages. */
	readonly segments: readonly PromptSegment[];
}

/** Part of a prompt that determines the response; small, whatever the size of the request. */
export interface PlannedPrompt {
	readonly model: string;
	readonly segmentCount: number;
	/** Text of the last user message. */
	readonly question: string;
	/** Results of the tools in order, if the conversation ends with them. */
	readonly toolResults: readonly string[];
	readonly tools: readonly OfferedTool[];
	readonly toolChoice: ToolChoice;
	readonly canCallSeveral: boolean;
	/** Adds a sentence before tool calls. */
	readonly speaksBeforeCalls: boolean;
	/** JSON schema that the response's text must fit. */
	readonly outputSchema: JsonObject | undefined;
	/** Limit that includes reasoning. */
	readonly maxOutputTokens: number | undefined;
	readonly stopSequences: readonly string[];
	readonly choices: number;
	/** Number of reasoning tokens before the response; 0 for none. */
	readonly thinkingTokens: number;
	/** Rounds of tool calls since the question, in the dialects where a question can ask for several. */
	readonly finishedRounds?: number;
	/** Maximum number of tool calls that the vendor runs by itself. */
	readonly maxHostedCalls?: number;
	/** Encrypted reasoning items that the client sent back. */
	readonly returnedReasoning?: number;
}

export interface PromptSegment {
	readonly text: string;
	readonly tokens: number;
	/** Cache lifetime, set where the client marked the prompt up to here for caching. */
	readonly cacheSeconds?: number;
}

export interface OfferedTool {
	readonly name: string;
	readonly schema: JsonObject;
	/** Takes plain text instead of JSON arguments. */
	readonly isFreeText: boolean;
	readonly origin?: ToolOrigin;
}

/** Place or kind of a tool that is no plain function in the list of tools. */
export interface ToolOrigin {
	readonly namespace?: string;
	/** The vendor loads its definition with a tool search first. */
	readonly isDeferred?: true;
	/** `hosted`: the vendor runs it. `search`: the client searches tools. */
	readonly kind?: 'hosted' | 'search';
}

export type ToolChoice = 'none' | 'auto' | 'required' | { readonly name: string };

/** Returns the user's text. Blocks that an agent adds by itself are left out if there is any other block. */
export function questionOf(texts: readonly string[]): string {
	const own = texts.filter((text) => !text.startsWith('<system-reminder>'));
	return (own.some((text) => text !== '') ? own : texts).join('');
}

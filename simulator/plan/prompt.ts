/** What a model is asked, whichever wire it came over. */
import type { JsonObject } from '../json-value.ts';

export interface Prompt extends Omit<PlannedPrompt, 'segmentCount'> {
	/** Everything the model reads, in the order in which prompts are cached: tools, system, messages. */
	readonly segments: readonly PromptSegment[];
}

/** The part of a prompt that decides the answer; small, whatever the size of the request. */
export interface PlannedPrompt {
	readonly model: string;
	readonly segmentCount: number;
	/** The text of the last message that a person wrote. */
	readonly question: string;
	/** What each tool returned, in their order, if the conversation ends with that. */
	readonly toolResults: readonly string[];
	readonly tools: readonly OfferedTool[];
	readonly toolChoice: ToolChoice;
	readonly mayCallSeveral: boolean;
	/** A sentence comes before tool calls. */
	readonly speaksBeforeCalls: boolean;
	/** The answer's text must be JSON that fits. */
	readonly outputSchema: JsonObject | undefined;
	/** Reasoning included. */
	readonly maxOutputTokens: number | undefined;
	readonly stopSequences: readonly string[];
	readonly choices: number;
	/** How much is thought before the answer; 0 is not at all. */
	readonly thinkingTokens: number;
}

export interface PromptSegment {
	readonly text: string;
	readonly tokens: number;
	/** Set where the caller marked the prompt up to here for caching. */
	readonly cacheSeconds?: number;
}

export interface OfferedTool {
	readonly name: string;
	readonly schema: JsonObject;
	/** Takes plain text instead of JSON arguments. */
	readonly isFreeText: boolean;
}

export type ToolChoice = 'none' | 'auto' | 'required' | { readonly name: string };

/** A person's text: what an agent adds by itself, in blocks of its own, is left out where there is anything else. */
export function questionOf(texts: readonly string[]): string {
	const own = texts.filter((text) => !text.startsWith('<system-reminder>'));
	return (own.some((text) => text !== '') ? own : texts).join('');
}

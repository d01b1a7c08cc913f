import type { Conversation, OutputCap, ReasoningSetting } from '../../conversation/conversation.ts';
import type { RequestWarnings, TranslationTarget } from '../../conversation/request-translation.ts';
import type { JsonObject } from '../../json/parse-body.ts';
import { allEfforts, type ClaudeModel } from './model.ts';

export interface WrittenThinking {
	readonly maxTokens: number;
	readonly thinking?: JsonObject;
	readonly effort?: string;
}

export interface ThinkingContext {
	/** The response must contain a call. */
	readonly isForced: boolean;
	/** The calls whose results follow were made without thinking, or it was lost. */
	readonly hasLostThinking: boolean;
	/** The model continues the last assistant message. */
	readonly isPrefilled: boolean;
}

/** Thinking budgets in tokens, by effort. */
const budgets: Readonly<Record<string, number>> = { low: 2048, medium: 4096, high: 16_384, xhigh: 16_384, max: 32_768 };
const minBudget = 1024;

/** Some models show no thinking by default, and `reasoning_content` would stay empty. */
const visibleThinking: JsonObject = { type: 'adaptive', display: 'summarized' };

/** Writes the thinking settings that the model supports. */
export function writeThinking(
	wanted: ReasoningSetting | undefined,
	model: ClaudeModel,
	target: TranslationTarget,
	cap: GivenCap,
	thinkingContext: ThinkingContext,
	warnings: RequestWarnings,
): WrittenThinking {
	const unchanged: WrittenThinking = { maxTokens: cap.value };
	if (wanted?.effort === undefined) return unchanged;
	const { field } = wanted;
	if (wanted.effort === 'none') return withoutThinking(field, model, unchanged, warnings);
	const effort = wanted.effort === 'minimal' ? 'low' : wanted.effort;
	if (effort === 'unknown') {
		warnings.add(wanted.effortField, 'ignored because the value is unknown');
		return unchanged;
	}
	switch (model.thinking) {
		case 'none':
			warnings.add(field, 'ignored');
			return unchanged;
		case 'adaptive':
			return { maxTokens: cap.value, thinking: visibleThinking, effort: steppedDown(field, effort, model, warnings) };
		case 'manual': {
			const obstacle = obstacleOf(thinkingContext);
			if (obstacle === undefined) return withBudget(field, budgets[effort] ?? minBudget, target, cap, warnings);
			warnings.add(field, `ignored because ${obstacle}`);
			return unchanged;
		}
	}
}

function withoutThinking(field: string, model: ClaudeModel, unchanged: WrittenThinking, warnings: RequestWarnings): WrittenThinking {
	if (model.canDisableThinking) return { ...unchanged, thinking: { type: 'disabled' } };
	if (model.thinking === 'adaptive') warnings.add(field, 'ignored because this model always reasons');
	return unchanged;
}

function steppedDown(field: string, effort: string, { efforts }: ClaudeModel, warnings: RequestWarnings): string {
	const reachable = allEfforts.slice(0, allEfforts.indexOf(effort) + 1).findLast((level) => efforts.includes(level)) ?? effort;
	if (reachable !== effort) warnings.add(field, `lowered to ${reachable}`);
	return reachable;
}

function obstacleOf({ isForced, hasLostThinking, isPrefilled }: ThinkingContext): string | undefined {
	if (isForced) return 'a tool call is required';
	if (hasLostThinking) return 'the last tool calls have no thinking_blocks';
	return isPrefilled ? 'the conversation ends with an assistant message' : undefined;
}

/** A budget must be less than the cap. A cap on visible output is raised by the budget; one that includes thinking lowers it. */
function withBudget(
	field: string,
	wanted: number,
	{ maxOutputTokens }: TranslationTarget,
	cap: GivenCap,
	warnings: RequestWarnings,
): WrittenThinking {
	const raised = cap.includesReasoning ? cap.value : Math.min(cap.value + wanted, maxOutputTokens ?? Number.POSITIVE_INFINITY);
	// If the full budget does not fit on top of the client's cap, at least a fifth remains for the response.
	const budget = raised === cap.value + wanted ? wanted : Math.min(wanted, Math.floor(raised * 0.8));
	if (budget < minBudget) {
		warnings.add(field, `ignored because fewer than ${minBudget} tokens remain for it`);
		return { maxTokens: cap.value };
	}
	if (raised > cap.value && cap.field !== undefined) {
		warnings.note(cap.field, `raised to ${raised} to include ${budget} reasoning tokens`);
	}
	return { maxTokens: raised, thinking: { type: 'enabled', budget_tokens: budget } };
}

/** Maximum output that every Claude model supports. */
const minMaxTokens = 4096;

/** A non-streaming response sends no byte until it is complete, so without a cap it is limited to a few minutes. */
const nonStreamingDefault = 16_384;

/** The cap, which this provider requires: the client's, otherwise the default, which has no field. */
export type GivenCap = Omit<OutputCap, 'field'> & Partial<Pick<OutputCap, 'field'>>;

/** @throws `Rejection` `field_invalid`. */
export function outputCapOf(conversation: Conversation, target: TranslationTarget): GivenCap {
	const { maxOutputTokens: max, defaultMaxTokens } = target;
	const cap = conversation.outputCap(max);
	if (cap !== undefined) return cap;
	const usual = max ?? minMaxTokens;
	const value = defaultMaxTokens ?? (conversation.isStreaming ? usual : Math.min(usual, nonStreamingDefault));
	return { value: Math.min(value, max ?? value), includesReasoning: false };
}

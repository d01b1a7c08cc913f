import type { JsonObject } from '../../json/parse-body.ts';
import { refuseField } from '../refuse-field.ts';
import type { RequestWarnings } from '../request-warnings.ts';
import type { TranslationTarget } from '../translation.ts';
import { allEfforts, type ClaudeModel } from './claude-model.ts';
import type { MaxTokens } from './max-tokens.ts';

export interface TranslatedThinking {
	readonly maxTokens: number;
	readonly thinking?: JsonObject;
	readonly effort?: string;
}

export interface ThinkingCircumstances {
	/** A tool must be called. */
	readonly isForced: boolean;
	/** The calls that are being answered were made without thinking, or it was lost. */
	readonly hasLostThinking: boolean;
	/** The model is to go on with what it said. */
	readonly isPrefilled: boolean;
}

/** Where thinking is bought by the token. */
const budgets: Readonly<Record<string, number>> = { low: 2048, medium: 4096, high: 16_384, xhigh: 16_384, max: 32_768 };
const leastBudget = 1024;

/** Some models tell nothing of their thoughts unless asked, and `reasoning_content` would stay empty. */
const shownThinking: JsonObject = { type: 'adaptive', display: 'summarized' };

/** From `reasoning_effort`, by what the model knows of thinking. @throws Refusal `field_invalid`. */
export function translateThinking(
	request: JsonObject,
	model: ClaudeModel,
	target: TranslationTarget,
	cap: MaxTokens,
	circumstances: ThinkingCircumstances,
	warnings: RequestWarnings,
): TranslatedThinking {
	const wanted = request.reasoning_effort;
	const unchanged: TranslatedThinking = { maxTokens: cap.tokens };
	if (wanted === undefined || wanted === null) return unchanged;
	if (wanted === 'none') return withoutThinking(model, unchanged, warnings);
	const effort = wanted === 'minimal' ? 'low' : wanted;
	if (typeof effort !== 'string' || !allEfforts.includes(effort)) {
		return refuseField('reasoning_effort', `must be \`none\`, \`minimal\` or one of ${allEfforts.join(', ')}`);
	}
	switch (model.thinking) {
		case 'none':
			warnings.add('reasoning_effort', 'ignored');
			return unchanged;
		case 'adaptive':
			return { maxTokens: cap.tokens, thinking: shownThinking, effort: steppedDown(effort, model, warnings) };
		case 'manual': {
			const obstacle = obstacleOf(circumstances);
			if (obstacle === undefined) return withBudget(budgets[effort] ?? leastBudget, target, cap, warnings);
			warnings.add('reasoning_effort', `ignored, for ${obstacle}`);
			return unchanged;
		}
	}
}

function withoutThinking(model: ClaudeModel, unchanged: TranslatedThinking, warnings: RequestWarnings): TranslatedThinking {
	if (model.mayDisableThinking) return { ...unchanged, thinking: { type: 'disabled' } };
	if (model.thinking === 'adaptive') warnings.add('reasoning_effort', 'ignored, for this model may think always');
	return unchanged;
}

function steppedDown(effort: string, { efforts }: ClaudeModel, warnings: RequestWarnings): string {
	const reachable = allEfforts.slice(0, allEfforts.indexOf(effort) + 1).findLast((level) => efforts.includes(level)) ?? effort;
	if (reachable !== effort) warnings.add('reasoning_effort', `lowered to ${reachable}`);
	return reachable;
}

function obstacleOf({ isForced, hasLostThinking, isPrefilled }: ThinkingCircumstances): string | undefined {
	if (isForced) return 'a tool is demanded';
	if (hasLostThinking) return 'the last calls come without their thinking_blocks';
	return isPrefilled ? 'the conversation ends with an assistant message' : undefined;
}

/** A budget must be less than the cap. A cap on what is seen is raised by it; one that covers thinking too lowers it. */
function withBudget(wanted: number, { maxOutputTokens }: TranslationTarget, cap: MaxTokens, warnings: RequestWarnings): TranslatedThinking {
	const raised = cap.includesThinking ? cap.tokens : Math.min(cap.tokens + wanted, maxOutputTokens ?? Number.POSITIVE_INFINITY);
	// Where there is not enough for both, a fifth is left for the answer.
	const budget = raised === cap.tokens + wanted ? wanted : Math.min(wanted, Math.floor(raised * 0.8));
	if (budget < leastBudget) {
		warnings.add('reasoning_effort', `ignored, for fewer than ${leastBudget} tokens would be left for it`);
		return { maxTokens: cap.tokens };
	}
	if (raised > cap.tokens && cap.field !== undefined) {
		warnings.note(cap.field, `raised to ${raised}, for ${budget} of them are for thinking`);
	}
	return { maxTokens: raised, thinking: { type: 'enabled', budget_tokens: budget } };
}

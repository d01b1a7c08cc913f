import { type Effort, efforts, type ReasoningSetting } from '../../conversation/conversation.ts';
import type { RequestWarnings } from '../../conversation/request-warnings.ts';
import type { JsonObject } from '../../json/parse-body.ts';
import type { GeminiModel } from './model.ts';

/** As Google's own layer for chat completions has them. */
const budgets: Readonly<Record<string, number>> = { minimal: 1024, low: 1024, medium: 8192, high: 24_576, xhigh: 24_576, max: 24_576 };
/** Operators may name levels that are none of these. */
const ladder: readonly string[] = efforts;

/** @returns undefined where nothing is to be said of it. */
export function thinkingConfig(asked: ReasoningSetting, model: GeminiModel, warnings: RequestWarnings): JsonObject | undefined {
	const wanted = { ...asked, effort: knownEffort(asked, warnings) };
	const { field, effort, budget, isShown } = wanted;
	if (effort === undefined && budget === undefined && !isShown) return undefined;
	if (model.thinking === 'none') {
		if (effort !== 'none') warnings.add(field, 'ignored because the model does not think');
		return undefined;
	}
	const shown = isShown && effort !== 'none' ? { includeThoughts: true } : {};
	return { ...(model.thinking === 'budget' ? byBudget(wanted, model, warnings) : byLevel(wanted, model, warnings)), ...shown };
}

interface WantedThinking extends Pick<ReasoningSetting, 'field' | 'budget'> {
	readonly effort: Effort | undefined;
}

function knownEffort({ effort, effortField }: ReasoningSetting, warnings: RequestWarnings): Effort | undefined {
	if (effort !== 'unknown') return effort;
	warnings.add(effortField, 'ignored because it is not known');
	return undefined;
}

function byBudget({ field, effort, budget }: WantedThinking, model: GeminiModel, warnings: RequestWarnings): JsonObject {
	if (effort === 'none') {
		if (model.mayDisableThinking) return { thinkingBudget: 0 };
		warnings.add(field, `${model.leastBudget} tokens as the least that the model thinks`);
		return { thinkingBudget: model.leastBudget };
	}
	const asked = budget ?? (effort === undefined ? undefined : budgets[effort]);
	if (asked === undefined) return {};
	const given = Math.min(Math.max(asked, model.leastBudget), model.mostBudget);
	if (budget !== undefined && given !== budget) warnings.add(field, `${given} tokens as the nearest that the model takes`);
	return { thinkingBudget: given };
}

function byLevel({ field, effort, budget }: WantedThinking, { levels }: GeminiModel, warnings: RequestWarnings): JsonObject {
	const [least] = levels;
	const asked = effort === 'none' ? 'minimal' : (effort ?? (budget === undefined ? undefined : levelOfBudget(budget)));
	if (asked === undefined || least === undefined) return {};
	const reachable = levels.filter((level) => ladder.indexOf(level) <= ladder.indexOf(asked));
	const level = reachable.at(-1) ?? least;
	if (effort !== undefined && level !== effort) warnings.add(field, `${level} as the nearest that the model takes`);
	return { thinkingLevel: level };
}

function levelOfBudget(budget: number): string {
	if (budget <= 2048) return 'low';
	return budget <= 8192 ? 'medium' : 'high';
}

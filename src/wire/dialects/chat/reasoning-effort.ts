import { type Effort, efforts, type ReasoningSetting } from '../../conversation/conversation.ts';
import type { RequestWarnings } from '../../conversation/request-warnings.ts';
import type { ChatModel } from './model.ts';

/** Operators may name efforts that are none of these. */
const ladder: readonly string[] = efforts;

/** @returns undefined: the model decides. @param hasTools the translated request offers tools. */
export function reasoningEffort(
	wanted: ReasoningSetting | undefined,
	model: ChatModel,
	hasTools: boolean,
	warnings: RequestWarnings,
): string | undefined {
	if (hasTools && model.toolsNeedEffortNone) {
		warnings.add('reasoning_effort', 'none because the model takes no tools otherwise');
		return 'none';
	}
	const asked = wanted?.effort ?? effortOfBudget(wanted?.budget);
	if (wanted === undefined || asked === undefined) return undefined;
	if (asked === 'none') return model.efforts.includes('none') ? 'none' : undefined;
	if (model.efforts.length === 0) {
		warnings.add(wanted.field, 'ignored because the model does not reason');
		return undefined;
	}
	if (asked === 'unknown') {
		warnings.add(wanted.effortField, 'ignored because it is not known');
		return undefined;
	}
	const given = nearest(asked, model.efforts);
	if (given !== undefined && given !== asked) warnings.add(wanted.effortField, `${given} as the nearest that the model takes`);
	return given;
}

function effortOfBudget(budget: number | undefined): Effort | undefined {
	if (budget === undefined) return undefined;
	if (budget <= 2048) return 'low';
	return budget <= 8192 ? 'medium' : 'high';
}

/** The same, else the next lower one, else the least. */
function nearest(effort: Effort, taken: readonly string[]): string | undefined {
	return taken.findLast((one) => one !== 'none' && ladder.indexOf(one) <= ladder.indexOf(effort)) ?? taken[0];
}

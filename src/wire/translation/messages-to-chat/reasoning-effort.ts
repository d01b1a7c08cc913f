import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';
import type { RequestWarnings } from '../request-warnings.ts';
import type { ChatModel } from './chat-model.ts';

/** From the least to the greatest, of both vendors. */
const ladder = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];

/** @returns undefined: the model decides. @param hasTools the translated request offers tools. */
export function reasoningEffort(members: JsonObject, model: ChatModel, hasTools: boolean, warnings: RequestWarnings): string | undefined {
	const asked = askedEffort(members);
	if (hasTools && model.toolsNeedEffortNone) {
		warnings.add('reasoning_effort', 'none because the model takes no tools otherwise');
		return 'none';
	}
	if (asked === undefined) return undefined;
	if (asked === 'none') return model.efforts.includes('none') ? 'none' : undefined;
	if (model.efforts.length === 0) {
		warnings.add(isJsonObject(members.thinking) ? 'thinking' : 'output_config.effort', 'ignored because the model does not reason');
		return undefined;
	}
	const given = nearest(asked, model.efforts);
	if (given === undefined) warnings.add('output_config.effort', 'ignored because it is not known');
	else if (given !== asked) warnings.add('output_config.effort', `${given} as the nearest that the model takes`);
	return given;
}

function askedEffort({ thinking, output_config }: JsonObject): string | undefined {
	const { type, budget_tokens } = isJsonObject(thinking) ? thinking : {};
	if (type === 'disabled') return 'none';
	const effort = isJsonObject(output_config) ? output_config.effort : undefined;
	if (typeof effort === 'string') return effort;
	if (type !== 'enabled') return undefined;
	const budget = typeof budget_tokens === 'number' ? budget_tokens : 0;
	if (budget <= 2048) return 'low';
	return budget <= 8192 ? 'medium' : 'high';
}

/** The same, else the next lower one, else the least. */
function nearest(effort: string, taken: readonly string[]): string | undefined {
	const wanted = ladder.indexOf(effort);
	if (wanted === -1) return undefined;
	return taken.findLast((one) => one !== 'none' && ladder.indexOf(one) <= wanted) ?? taken[0];
}

import type { SeededRandom } from '../seeded-random.ts';
import { fillSchema } from './fill-schema.ts';
import type { OfferedTool, PlannedPrompt } from './prompt.ts';
import { requestedRounds, requestedTools } from './requested-tools.ts';
import type { PlannedCall } from './response-plan.ts';

/**
 * Selects the tools to call.
 * - Required: the named one, or those that the question requests, or the first.
 * - Optional: those that the question requests, and none directly after tool results, unless it says "5 times".
 *
 * A single tool is called once for each proper name that `and` joins, as in "weather in Boston and Paris".
 */
export function planCalls(prompt: PlannedPrompt, random: SeededRandom, ids: SeededRandom): PlannedCall[] {
	const names = properNames(prompt.question);
	const chosen = chooseTools(prompt);
	const [only] = chosen;
	const isRepeated = prompt.canCallSeveral && chosen.length === 1 && names.length > 1 && /\band\b/.test(prompt.question);
	if (only !== undefined && isRepeated) return names.slice(0, 4).map((name) => planCall(only, [name], prompt, random, ids));
	return (prompt.canCallSeveral ? chosen : chosen.slice(0, 1)).map((tool) => planCall(tool, names, prompt, random, ids));
}

function chooseTools(prompt: PlannedPrompt): readonly OfferedTool[] {
	const choice = prompt.toolChoice;
	if (choice === 'none') return [];
	if (typeof choice === 'object') return prompt.tools.filter((tool) => tool.name === choice.name);
	if (choice === 'auto' && prompt.toolResults.length > 0 && (prompt.finishedRounds ?? 1) >= requestedRounds(prompt.question)) return [];
	const requested = requestedTools(prompt);
	return requested.length === 0 && choice === 'required' ? prompt.tools.slice(0, 1) : requested;
}

/** Returns runs of capitalized words, except the one that opens the sentence. */
function properNames(question: string): string[] {
	return question.match(/(?<=[a-z,] )\p{Lu}\p{L}+(?: \p{Lu}\p{L}+)*/gu) ?? [];
}

function planCall(
	tool: OfferedTool,
	names: readonly string[],
	prompt: PlannedPrompt,
	random: SeededRandom,
	ids: SeededRandom,
): PlannedCall {
	const id = ids.letters(24);
	const origin = tool.origin === undefined ? {} : { origin: tool.origin };
	if (tool.isFreeText) return { id, name: tool.name, input: prompt.question, isFreeText: true, ...origin };
	const input = JSON.stringify(fillSchema({ type: 'object', ...tool.schema }, { random, strings: names }));
	return { id, name: tool.name, input, isFreeText: false, ...origin };
}

import type { SeededRandom } from '../seeded-random.ts';
import type { PlannedCall } from './answer-plan.ts';
import { fillSchema } from './fill-schema.ts';
import type { OfferedTool, Prompt } from './prompt.ts';

/**
 * Which tools are called. Demanded: the named one, or those the question is about, else the first. Left to the
 * model: those the question is about, and none right after a tool has answered. A question is about a tool when
 * it holds a word of four letters or more of the tool's name. A lone tool is called once for each of the
 * question's proper names that `and` joins, as in "weather in Boston and Paris".
 */
export function planCalls(prompt: Prompt, random: SeededRandom, ids: SeededRandom): PlannedCall[] {
	const names = properNames(prompt.question);
	const chosen = chooseTools(prompt);
	const [only] = chosen;
	const isRepeated = prompt.mayCallSeveral && chosen.length === 1 && names.length > 1 && /\band\b/.test(prompt.question);
	if (only !== undefined && isRepeated) return names.slice(0, 4).map((name) => planCall(only, [name], prompt, random, ids));
	return (prompt.mayCallSeveral ? chosen : chosen.slice(0, 1)).map((tool) => planCall(tool, names, prompt, random, ids));
}

function chooseTools(prompt: Prompt): readonly OfferedTool[] {
	const choice = prompt.toolChoice;
	if (choice === 'none') return [];
	if (typeof choice === 'object') return prompt.tools.filter((tool) => tool.name === choice.name);
	if (choice === 'auto' && prompt.toolResult !== undefined) return [];
	const question = prompt.question.toLowerCase();
	const meant = prompt.tools.filter((tool) => nameWords(tool.name).some((word) => question.includes(word)));
	return meant.length === 0 && choice === 'required' ? prompt.tools.slice(0, 1) : meant;
}

function nameWords(name: string): string[] {
	const words = name
		.replace(/([a-z])([A-Z])/g, '$1 $2')
		.toLowerCase()
		.split(/[^a-z]+/);
	return words.filter((word) => word.length >= 4);
}

/** Runs of capitalized words, but for the one that opens the sentence. */
function properNames(question: string): string[] {
	return question.match(/(?<=[a-z,] )\p{Lu}\p{L}+(?: \p{Lu}\p{L}+)*/gu) ?? [];
}

function planCall(tool: OfferedTool, names: readonly string[], prompt: Prompt, random: SeededRandom, ids: SeededRandom): PlannedCall {
	const id = ids.letters(24);
	if (tool.isFreeText) return { id, name: tool.name, input: prompt.question, isFreeText: true };
	const input = JSON.stringify(fillSchema({ type: 'object', ...tool.schema }, { random, strings: names }));
	return { id, name: tool.name, input, isFreeText: false };
}

import type { OfferedTool, PlannedPrompt } from './prompt.ts';

/**
 * Words of tool names that name common actions, or that people also use in other meanings: alone, they select no tool. An agent offers
 * `Read`, `Bash` and `TodoWrite` with every question.
 */
const commonWords = new Set(
	`add agent all any apply ask bash browse browser build call cancel change check click close code command compute computer convert copy count
	create current data delete describe do edit editor exec execute exit fetch file files find for from get glob grep has info input insert into is kill
	last latest list load lookup make move multi my new notebook of on one open output patch plan post print process python query read remove render replace
	reply report request resolve response result run save script search select send set shell show skill start stop store str string submit
	task terminal test text the think to todo tool tools update upload use user value view web with write`.split(/\s+/),
);

/** Matches "Call get_weather", "use the `search` tool" and the like. */
const directive = /\b(?:call|calling|calls|invoke|run|use|using|with)\s+(?:the\s+)?(?:tool\s+|function\s+)?["'`]?$/;
const noun = /^["'`]?\s+(?:tool|function)\b/;
const isForbidding =
	/\b(?:do not|don['’]t|never|without)\s+(?:call|calling|use|using|invoke|invoking)\s+(?:any\s+|the\s+)?(?:tools?|functions?)\b/i;

/**
 * Selects the tools that the question requests, by name or by a word of the name that is not common. For example, "What is the weather?"
 * selects `get_weather`. A name of common words alone needs a phrase such as "use the Read tool".
 */
export function requestedTools({ question, tools }: Pick<PlannedPrompt, 'question' | 'tools'>): readonly OfferedTool[] {
	if (tools.length === 0 || isForbidding.test(question)) return [];
	const text = question.toLowerCase();
	const words = new Set(text.match(/[\p{L}\p{N}]+/gu));
	return tools.filter(({ name }) => isNamed(name, text, question) || isMeant(name, words));
}

/** Returns the number of rounds in which the question wants its tools: 5 for "use the shell tool 5 times", by default 1. */
export function requestedRounds(question: string): number {
	return Number(/\b(\d{1,3}) times\b/.exec(question)?.[1] ?? 1);
}

function isNamed(name: string, text: string, question: string): boolean {
	if (name === '') return false;
	const parts = wordsOf(name);
	const wanted = name.toLowerCase();
	for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + 1)) {
		const before = text.slice(Math.max(0, at - 40), at);
		const after = text.slice(at + wanted.length, at + wanted.length + 20);
		if (/[\p{L}\p{N}_-]$/u.test(before) || /^[\p{L}\p{N}_-]/u.test(after)) continue;
		// A name of several words has no other meaning in a question.
		const isOneOfAKind = parts.length > 1 && question.slice(at, at + name.length) === name;
		if (isOneOfAKind || directive.test(before) || noun.test(after)) return true;
	}
	return false;
}

function isMeant(name: string, words: ReadonlySet<string>): boolean {
	return wordsOf(name).some((word) => {
		if (word.length < 4 || commonWords.has(word) || commonWords.has(word.replace(/s$/, ''))) return false;
		return words.has(word) || words.has(`${word}s`) || (word.endsWith('s') && words.has(word.slice(0, -1)));
	});
}

function wordsOf(name: string): string[] {
	const spaced = name.replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2').replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2');
	return spaced.toLowerCase().match(/[\p{L}]+/gu) ?? [];
}

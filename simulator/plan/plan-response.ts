import { createSeededRandom, hashText, type SeededRandom } from '../seeded-random.ts';
import { countTokens, headOf } from '../token-count.ts';
import { composeText } from './compose-text.ts';
import { fillSchema } from './fill-schema.ts';
import { planCalls } from './plan-calls.ts';
import type { PlannedPrompt } from './prompt.ts';
import type { PlannedCall, PlannedChoice, ResponsePlan, StopReason, Usage } from './response-plan.ts';

export interface ResponsePreferences {
	/** Number of text tokens, whatever the request. */
	readonly outputTokens?: number;
	/** Number of reasoning tokens, whatever the request. */
	readonly thinkingTokens?: number;
	readonly declines?: 'refusal' | 'filter' | 'failure';
	/** Text to return verbatim; stop sequences and the token limit still apply. */
	readonly script?: ResponseScript;
}

export interface ResponseScript {
	readonly pieces: readonly string[];
	/** Lets the wire dialect cut the text into events; otherwise each piece is one event. */
	readonly cutsFreely: boolean;
	readonly thinking: string;
	readonly calls: readonly { readonly name: string; readonly input: unknown; readonly namespace?: string | undefined }[];
}

/** Input side of the bill, see `PromptCache`. */
export type InputUsage = Omit<Usage, 'output' | 'reasoning' | 'webSearches'>;

/** Plans the response. The same prompt gets the same response, except for the ids of tool calls. */
export function planResponse(prompt: PlannedPrompt, input: InputUsage, preferences: ResponsePreferences, ids: SeededRandom): ResponsePlan {
	const random = createSeededRandom(hashText(prompt.question, hashText(prompt.toolResults.join('\n'), prompt.segmentCount)));
	const limit = prompt.maxOutputTokens ?? Number.POSITIVE_INFINITY;
	const thinking = headOf(planThinking(prompt, preferences, random), limit);
	const reasoning = countTokens(thinking);
	const choices: PlannedChoice[] = [];
	let output = reasoning;
	for (let index = 0; index < prompt.choices; index++) {
		const choice = limitTokens(planChoice(prompt, preferences, random, ids), limit - reasoning);
		output += countTokens(choice.text) + countTokens(choice.refusal);
		for (const call of choice.calls) output += countTokens(call.name) + countTokens(call.input);
		choices.push(choice);
	}
	const webSearches = choices.reduce((sum, { searches }) => sum + searches.length, 0);
	return { thinking, choices, usage: { ...input, output, reasoning, webSearches } };
}

function planThinking(prompt: PlannedPrompt, preferences: ResponsePreferences, random: SeededRandom): string {
	if (preferences.script !== undefined) return preferences.script.thinking;
	return composeText(random, preferences.thinkingTokens ?? prompt.thinkingTokens);
}

function planChoice(prompt: PlannedPrompt, preferences: ResponsePreferences, random: SeededRandom, ids: SeededRandom): PlannedChoice {
	if (preferences.declines === 'refusal') return { ...silence, refusal: 'I am sorry, but I cannot help with that.', stop: 'refusal' };
	if (preferences.declines === 'filter') return { ...silence, stop: 'filter' };
	if (preferences.declines === 'failure') return { ...silence, stop: 'failed' };
	const { script } = preferences;
	if (script !== undefined) {
		const { calls, searches } = splitCalls(
			script.calls.map((call) => scriptedCall(call, prompt, ids)),
			prompt,
		);
		const textPieces = script.cutsFreely ? {} : { textPieces: script.pieces };
		return stopAt(prompt, {
			...silence,
			text: script.pieces.join(''),
			...textPieces,
			searches,
			calls,
			stop: calls.length > 0 ? 'calls' : 'end',
		});
	}
	if (preferences.outputTokens !== undefined) {
		return stopAt(prompt, { ...silence, text: composeText(random, preferences.outputTokens), stop: 'end' });
	}
	const { calls, searches } = splitCalls(planCalls(prompt, random, ids), prompt);
	if (calls.length > 0) {
		return stopAt(prompt, { ...silence, searches, text: prompt.speaksBeforeCalls ? 'Let me look that up.' : '', calls, stop: 'calls' });
	}
	return stopAt(prompt, { ...silence, searches, text: planText(prompt, random), stop: 'end' });
}

/** Separates the web searches, which the vendor runs by itself, from the calls for the client. */
function splitCalls(planned: readonly PlannedCall[], prompt: PlannedPrompt): Pick<PlannedChoice, 'calls' | 'searches'> {
	const calls = planned.filter(({ origin }) => origin?.kind !== 'hosted');
	const hosted = planned.length - calls.length;
	const searches = Array.from({ length: hosted }, () => excerptOf(prompt.question)).slice(0, prompt.maxHostedCalls);
	return { calls, searches };
}

/** Free text, namespace and kind come from the offered tool of that name; the script's own namespace takes precedence. */
function scriptedCall(
	{ name, input, namespace }: ResponseScript['calls'][number],
	{ tools }: PlannedPrompt,
	ids: SeededRandom,
): PlannedCall {
	const tool = tools.find((offered) => offered.name === name && (namespace === undefined || offered.origin?.namespace === namespace));
	const origin = namespace === undefined ? tool?.origin : { ...tool?.origin, namespace };
	const isFreeText = typeof input === 'string' || tool?.isFreeText === true;
	return {
		id: ids.letters(24),
		name,
		input: typeof input === 'string' ? input : JSON.stringify(input),
		isFreeText,
		...(origin && { origin }),
	};
}

const silence = { text: '', refusal: '', calls: [], searches: [], stopSequence: null } as const;

/**
 * Closing sentences with low content filter scores, also after a short question and with any chunking: by itself, a trial matches no
 * guardrail.
 */
const closings = [
	'This response was simulated; no provider was called.',
	'This text came from the built-in simulator.',
	'The simulator returns the same text for the same prompt.',
	'No model produced this text.',
] as const;

function planText(prompt: PlannedPrompt, random: SeededRandom): string {
	if (prompt.outputSchema !== undefined) {
		return JSON.stringify(fillSchema(prompt.outputSchema, { random, strings: [] }));
	}
	const closing = random.pick<string>(closings, closings[0]);
	if (prompt.toolResults.length > 0) return `The tools answered: ${prompt.toolResults.map(excerptOf).join('\n')}\n\n${closing}`;
	return `You wrote: ${excerptOf(prompt.question)}\n\n${closing}`;
}

function excerptOf(text: string): string {
	return headOf(text, 60);
}

function stopAt(prompt: PlannedPrompt, choice: PlannedChoice): PlannedChoice {
	let end = Number.POSITIVE_INFINITY;
	let found: string | null = null;
	for (const sequence of prompt.stopSequences) {
		const at = sequence === '' ? -1 : choice.text.indexOf(sequence);
		if (at !== -1 && at < end) {
			end = at;
			found = sequence;
		}
	}
	if (found === null) return choice;
	return { ...choice, ...cutText(choice, end), calls: [], stop: 'stop_sequence', stopSequence: found };
}

function limitTokens(choice: PlannedChoice, limit: number): PlannedChoice {
	let left = limit - countTokens(choice.refusal);
	const text = headOf(choice.text, Math.max(0, left));
	left -= countTokens(choice.text);
	const calls: PlannedCall[] = [];
	for (const call of choice.calls) {
		left -= countTokens(call.name);
		if (left < 0) break;
		calls.push({ ...call, input: headOf(call.input, left) });
		left -= countTokens(call.input);
	}
	const stop: StopReason = left < 0 ? 'length' : choice.stop;
	return { ...choice, ...cutText(choice, text.length), calls, stop, stopSequence: left < 0 ? null : choice.stopSequence };
}

function cutText(choice: PlannedChoice, end: number): Pick<PlannedChoice, 'text' | 'textPieces'> {
	if (choice.textPieces === undefined) return { text: choice.text.slice(0, end) };
	let start = 0;
	const textPieces: string[] = [];
	for (const piece of choice.textPieces) {
		if (start < end) textPieces.push(piece.slice(0, end - start));
		start += piece.length;
	}
	return { text: textPieces.join(''), textPieces };
}

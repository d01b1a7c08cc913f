/** Legacy text completions: prompts without roles, no tools. */
import { isGiven, type JsonObject, listOf, numberOf, objectOf, textOf } from '../../json-value.ts';
import type { PlannedChoice } from '../../plan/response-plan.ts';
import { stepsOf } from '../../plan/response-steps.ts';
import { countTokens, piecesOf } from '../../token-count.ts';
import type { WireApi, WireEvent, WireResponse } from '../wire.ts';
import { checkStop, numberRules } from './check-chat.ts';
import { checkNumbers } from './check-numbers.ts';
import type { OpenAiModel } from './openai-models.ts';
import { articled, reject } from './reject.ts';
import { renderChatUsage } from './render-chat.ts';
import { dataLine } from './stream-chat.ts';

export interface CompletionsDialect {
	/** @throws VendorError for an unknown model. */
	modelOf(name: string): OpenAiModel;
	renderErrorEvent(): string;
}

const knownFields = new Set(
	`model prompt suffix max_tokens temperature top_p n stream stream_options logprobs echo stop presence_penalty frequency_penalty best_of
	logit_bias user seed`.split(/\s+/),
);
const defaultMaxTokens = 16;

export function createCompletionsApi({ modelOf, renderErrorEvent }: CompletionsDialect): WireApi {
	return {
		readPrompt(body, name) {
			modelOf(name);
			checkCompletion(body);
			const prompts = readPrompts(body['prompt']);
			const choices = numberOf(body['n']) ?? 1;
			return {
				model: name,
				segments: prompts.map(({ text, tokens }) => ({ text, tokens })),
				question: prompts.map(({ text }) => text).join('\n'),
				toolResults: [],
				tools: [],
				toolChoice: 'none',
				canCallSeveral: false,
				speaksBeforeCalls: false,
				outputSchema: undefined,
				maxOutputTokens: numberOf(body['max_tokens']) ?? defaultMaxTokens,
				stopSequences: typeof body['stop'] === 'string' ? [body['stop']] : listOf(body['stop']).map(textOf),
				choices: choices * prompts.length,
				thinkingTokens: 0,
			};
		},
		openRequest(body, name) {
			const model = modelOf(name);
			return {
				isStream: body['stream'] === true,
				caching: 'implicit',
				streamContentType: 'text/event-stream; charset=utf-8',
				renderNonStreaming: (response) => renderCompletion(response, body, model),
				renderEvents: (response) => streamCompletion(response, body, model),
				renderErrorEvent,
			};
		},
	};
}

function checkCompletion(body: JsonObject): void {
	for (const field of Object.keys(body)) {
		if (!knownFields.has(field)) reject(`Unrecognized request argument supplied: ${field}`);
	}
	const { prompt } = body;
	const isTexts = Array.isArray(prompt) && prompt.length > 0;
	if (isGiven(prompt) && typeof prompt !== 'string' && !isTexts) {
		reject(`Invalid type for 'prompt': expected one of a string or an array, but got ${articled(prompt)} instead.`, {
			param: 'prompt',
			code: 'invalid_type',
		});
	}
	checkNumbers(body, numberRules);
	checkStop(body['stop']);
	const best = numberOf(body['best_of']);
	if (best !== undefined && best < (numberOf(body['n']) ?? 1)) {
		reject(
			`You requested that the server return more choices than it will generate (HINT: you must set 'n' (currently ${numberOf(body['n']) ?? 1}) to be at most 'best_of' (currently ${best}), or omit either parameter if you don't specifically want to use them.)`,
		);
	}
}

interface LegacyPrompt {
	readonly text: string;
	readonly tokens: number;
}

/** Reads a text, a list of texts, a list of tokens or a list of such lists. */
function readPrompts(prompt: unknown): LegacyPrompt[] {
	if (!Array.isArray(prompt)) return [readText(textOf(prompt))];
	if (prompt.every((entry) => typeof entry === 'number')) return [{ text: prompt.join(' '), tokens: prompt.length }];
	return prompt.map((entry: unknown) => (Array.isArray(entry) ? { text: entry.join(' '), tokens: entry.length } : readText(textOf(entry))));
}

function readText(text: string): LegacyPrompt {
	return { text, tokens: countTokens(text) };
}

function finishReason({ stop }: PlannedChoice): string {
	if (stop === 'length') return 'length';
	return stop === 'filter' ? 'content_filter' : 'stop';
}

function logprobsOf(text: string, body: JsonObject): JsonObject | null {
	if (!isGiven(body['logprobs'])) return null;
	const tokens = [...piecesOf(text, () => 1)];
	let offset = 0;
	const offsets = tokens.map((token) => {
		offset += token.length;
		return offset - token.length;
	});
	return {
		tokens,
		token_logprobs: tokens.map(() => -0.01),
		top_logprobs: tokens.map((token) => ({ [token]: -0.01 })),
		text_offset: offsets,
	};
}

function renderCompletion(response: WireResponse, body: JsonObject, model: OpenAiModel): JsonObject {
	const { plan, random, createdSeconds, quirks } = response;
	const echo = body['echo'] === true ? readPrompts(body['prompt']) : [];
	const perPrompt = numberOf(body['n']) ?? 1;
	return {
		id: `cmpl-${random.letters(29)}`,
		object: 'text_completion',
		created: createdSeconds,
		model: model.snapshot,
		choices: plan.choices.map((choice, index) => {
			const text = (echo[Math.floor(index / perPrompt)]?.text ?? '') + choice.text + choice.refusal;
			return { text, index, logprobs: logprobsOf(text, body), finish_reason: finishReason(choice) };
		}),
		...(quirks.omitsUsage ? {} : { usage: renderLegacyUsage(response) }),
	};
}

function renderLegacyUsage({ plan }: WireResponse): JsonObject {
	const { prompt_tokens, completion_tokens, total_tokens } = renderChatUsage(plan.usage, { countsCacheWrites: false });
	return { prompt_tokens, completion_tokens, total_tokens };
}

function* streamCompletion(response: WireResponse, body: JsonObject, model: OpenAiModel): Generator<WireEvent> {
	const { plan, random, quirks, createdSeconds } = response;
	const start = { id: `cmpl-${random.letters(29)}`, object: 'text_completion', created: createdSeconds };
	const includesUsage = objectOf(body['stream_options'])['include_usage'] === true && !quirks.omitsUsage;
	const chunk = (choices: readonly JsonObject[], usage: JsonObject | null, outputTokens: number): WireEvent => ({
		bytes: dataLine({ ...start, choices, model: model.snapshot, ...(includesUsage && { usage }) }),
		outputTokens,
	});
	for (const { choice: index, text, phase, outputTokens } of stepsOf(plan, () => quirks.tokensPerEvent ?? 1)) {
		if (phase !== 'piece') continue;
		yield chunk([{ text, index, logprobs: logprobsOf(text, body), finish_reason: null }], null, outputTokens);
	}
	for (const [index, choice] of plan.choices.entries()) {
		yield chunk([{ text: '', index, logprobs: null, finish_reason: finishReason(choice) }], null, 0);
	}
	if (includesUsage) yield chunk([], renderLegacyUsage(response), 0);
	yield { bytes: 'data: [DONE]\n\n', outputTokens: 0 };
}

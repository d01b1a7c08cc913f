/** Renders non-streaming chat completions responses, with the vendor's field order. */
import type { JsonObject } from '../../json-value.ts';
import type { PlannedCall, PlannedChoice, Usage } from '../../plan/response-plan.ts';
import { piecesOf } from '../../token-count.ts';
import type { WireResponse } from '../wire.ts';
import type { OpenAiModel } from './openai-models.ts';
import type { ChatOptions } from './read-chat.ts';

export function renderChat(response: WireResponse, model: OpenAiModel, options: ChatOptions): JsonObject {
	const { plan, random, createdSeconds, quirks } = response;
	return {
		id: `chatcmpl-${random.letters(29)}`,
		object: 'chat.completion',
		created: createdSeconds,
		model: model.snapshot,
		choices: plan.choices.map((choice, index) => ({
			index,
			message: renderMessage(choice, options, quirks.emptiesIds),
			...(model.isReasoning ? {} : { logprobs: options.includesLogprobs ? renderLogprobs(choice.text) : null }),
			finish_reason: finishReasonOf(choice, options),
		})),
		...(quirks.omitsUsage ? {} : { usage: renderChatUsage(plan.usage, model) }),
		service_tier: options.serviceTier,
		system_fingerprint: fingerprintOf(model),
		...(options.isModerated ? { moderation: renderModeration() } : {}),
	};
}

function renderMessage(choice: PlannedChoice, options: ChatOptions, emptiesIds: boolean): JsonObject {
	const [first] = choice.calls;
	const isSilent = choice.refusal !== '' || (choice.text === '' && first !== undefined);
	return {
		role: 'assistant',
		content: isSilent ? null : choice.text,
		...(first !== undefined && options.usesFunctions ? { function_call: { name: first.name, arguments: first.input } } : {}),
		...(first !== undefined && !options.usesFunctions ? { tool_calls: choice.calls.map((call) => renderCall(call, emptiesIds)) } : {}),
		refusal: choice.refusal === '' ? null : choice.refusal,
		annotations: [],
	};
}

export function callIdOf(call: PlannedCall, emptiesIds: boolean): string {
	return emptiesIds ? '' : `call_${call.id}`;
}

export function renderCall(call: PlannedCall, emptiesIds: boolean): JsonObject {
	const id = callIdOf(call, emptiesIds);
	return call.isFreeText
		? { id, type: 'custom', custom: { name: call.name, input: call.input } }
		: { id, type: 'function', function: { name: call.name, arguments: call.input } };
}

export function finishReasonOf({ stop }: PlannedChoice, options: Pick<ChatOptions, 'usesFunctions'>): string {
	switch (stop) {
		case 'length':
			return 'length';
		case 'calls':
			return options.usesFunctions ? 'function_call' : 'tool_calls';
		case 'filter':
			return 'content_filter';
		default:
			return 'stop';
	}
}

export function renderChatUsage(usage: Usage, model: Pick<OpenAiModel, 'countsCacheWrites'>): JsonObject {
	const prompt = usage.input + usage.cacheRead + usage.cacheWrite;
	return {
		prompt_tokens: prompt,
		completion_tokens: usage.output,
		total_tokens: prompt + usage.output,
		prompt_tokens_details: {
			cached_tokens: usage.cacheRead,
			...(model.countsCacheWrites ? { cache_write_tokens: usage.cacheWrite } : {}),
			audio_tokens: 0,
		},
		completion_tokens_details: {
			reasoning_tokens: usage.reasoning,
			audio_tokens: 0,
			accepted_prediction_tokens: 0,
			rejected_prediction_tokens: 0,
		},
	};
}

export function fingerprintOf(model: Pick<OpenAiModel, 'isReasoning'>): string | null {
	return model.isReasoning ? null : 'fp_50906f2aac';
}

export function renderLogprobs(text: string): JsonObject {
	const content = [...piecesOf(text, () => 1)].map((token) => ({
		token,
		logprob: -0.01,
		bytes: [...Buffer.from(token, 'utf8')],
		top_logprobs: [],
	}));
	return { content, refusal: null };
}

export function renderModeration(): JsonObject {
	const noUsage = {
		model: 'omni-moderation-latest',
		results: [
			{
				categories: {},
				category_applied_input_types: {},
				category_scores: {},
				flagged: false,
				model: 'omni-moderation-latest',
				type: 'moderation_result',
			},
		],
		type: 'moderation_results',
	};
	return { input: noUsage, output: noUsage };
}

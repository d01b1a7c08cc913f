/**
 * Gemini behind the chat completions format, with its deviations:
 * - tool calls without index or id, each in one chunk;
 * - `stop` where a stream ends in tool calls;
 * - reasoning tokens only in the total;
 * - no content next to tool calls;
 * - Google's errors in a list.
 */
import { type JsonObject, listOf, objectOf, textOf } from '../../json-value.ts';
import type { PlannedCall } from '../../plan/response-plan.ts';
import { stepsOf } from '../../plan/response-steps.ts';
import type { SeededRandom } from '../../seeded-random.ts';
import { VendorError } from '../../vendor-error.ts';
import { createEmbeddingsApi } from '../embeddings/embeddings-api.ts';
import { checkChatMessages } from '../openai/check-chat-messages.ts';
import { type ChatOptions, readChatOptions, readChatPrompt } from '../openai/read-chat.ts';
import { finishReasonOf } from '../openai/render-chat.ts';
import { dataLine } from '../openai/stream-chat.ts';
import { bearerKey, type ModelRequest, type Wire, type WireEvent, type WireResponse } from '../wire.ts';
import { reject } from './check-content.ts';
import { isGeminiEmbeddingModel } from './embed-content.ts';
import { checkGoogleKey, googleHeaders } from './gemini.ts';
import { renderGoogleError } from './gemini-errors.ts';
import { geminiModel } from './gemini-models.ts';
import { signatureFrom } from './render-content.ts';

export const geminiOpenAiWire: Wire = {
	name: 'gemini-openai',
	readKey: ({ headers }) => bearerKey(headers),
	checkAccess: (_target, key, isRejected) => checkGoogleKey(key, isRejected),
	notJsonMessage: 'Invalid JSON payload received. Unexpected end of string. Expected a value.',
	readPrompt(body, named) {
		const model = named.replace(/^models\//, '');
		if (model === '') reject('model is not specified');
		const facts = geminiModel(model);
		if (!facts.isKnown) throw new VendorError('model-unknown', model);
		checkChatMessages(body['messages'] ?? []);
		if (facts.needsSignatures) checkSignatures(body);
		return readChatPrompt(body, model, facts.thinks);
	},
	openRequest(body, named): ModelRequest {
		const model = named.replace(/^models\//, '');
		const options = readChatOptions(body);
		return {
			isStream: body['stream'] === true,
			caching: 'implicit',
			streamContentType: 'text/event-stream',
			renderNonStreaming: (response) => renderCompatible(response, model, options),
			renderEvents: (response) => streamCompatible(response, model, options),
			renderErrorEvent: () => dataLine(renderGoogleError(new VendorError('overloaded', '', { status: 503 }), model)),
		};
	},
	embeddings: createEmbeddingsApi((named) => {
		const model = named.replace(/^models\//, '');
		if (!isGeminiEmbeddingModel(model)) throw new VendorError('model-unknown', model);
		return { snapshot: named, size: 3072, isResizable: true };
	}),
	renderError: (error, { model }) => [renderGoogleError(error, model)],
	headers: googleHeaders,
	newRequestId: (random) => random.letters(22),
};

/** Requires `extra_content.google.thought_signature` on the first tool call of each assistant turn, or on the message. */
function checkSignatures(body: JsonObject): void {
	for (const [index, message] of listOf(body['messages']).map(objectOf).entries()) {
		const [first] = listOf(message['tool_calls']).map(objectOf);
		if (first === undefined || signatureOf(first) !== '' || signatureOf(message) !== '') continue;
		const name = textOf(objectOf(first['function'])['name']);
		reject(
			`Function call is missing a thought_signature in functionCall parts. Additional data, function call \`default_api:${name}\`, position ${index + 1}.`,
		);
	}
}

function signatureOf(holder: JsonObject): string {
	return textOf(objectOf(objectOf(holder['extra_content'])['google'])['thought_signature']);
}

function renderCompatible({ plan, random, createdSeconds, quirks }: WireResponse, model: string, options: ChatOptions): JsonObject {
	return {
		choices: plan.choices.map((choice, index) => ({
			finish_reason: finishReasonOf(choice, options),
			index,
			message: {
				...(choice.text === '' && choice.calls.length > 0 ? {} : { content: choice.text || choice.refusal }),
				role: 'assistant',
				...(choice.calls.length === 0 ? {} : { tool_calls: choice.calls.map((call, at) => renderCall(call, at, random)) }),
			},
		})),
		created: createdSeconds,
		id: random.letters(22),
		model,
		object: 'chat.completion',
		...(quirks.omitsUsage ? {} : { usage: renderUsage(plan.usage) }),
	};
}

function renderCall(call: PlannedCall, index: number, random: SeededRandom): JsonObject {
	return {
		...(index === 0 ? { extra_content: { google: { thought_signature: signatureFrom(random) } } } : {}),
		function: { arguments: call.input, name: call.name },
		id: '',
		type: 'function',
	};
}

function renderUsage(usage: WireResponse['plan']['usage']): JsonObject {
	const prompt = usage.input + usage.cacheRead;
	return {
		completion_tokens: usage.output - usage.reasoning,
		prompt_tokens: prompt,
		total_tokens: prompt + usage.output,
		...(usage.cacheRead > 0 ? { prompt_tokens_details: { cached_tokens: usage.cacheRead } } : {}),
	};
}

const tokensPerChunk = 16;

function* streamCompatible(
	{ plan, random, createdSeconds, quirks }: WireResponse,
	model: string,
	options: ChatOptions,
): Generator<WireEvent> {
	const id = random.letters(22);
	const usage = options.includesUsage && !quirks.omitsUsage ? renderUsage(plan.usage) : undefined;
	let carried = 0;
	const chunk = (choices: readonly JsonObject[], withUsage: boolean): WireEvent => {
		const whole = {
			choices,
			created: createdSeconds,
			id,
			model,
			object: 'chat.completion.chunk',
			...(withUsage && usage !== undefined ? { usage } : {}),
		};
		const event = { bytes: dataLine(whole), outputTokens: carried };
		carried = 0;
		return event;
	};
	for (const step of stepsOf(plan, () => quirks.tokensPerEvent ?? tokensPerChunk)) {
		carried += step.outputTokens;
		if (step.part.kind === 'call' && step.phase === 'close') {
			const delta = { role: 'assistant', tool_calls: [renderCall(step.part.call, step.part.callIndex, random)] };
			yield chunk([{ delta, index: step.choice }], false);
		} else if (step.phase === 'piece' && (step.part.kind === 'text' || step.part.kind === 'refusal')) {
			yield chunk([{ delta: { content: step.text, role: 'assistant' }, index: step.choice }], false);
		}
	}
	for (const [index, choice] of plan.choices.entries()) {
		const reason = finishReasonOf(choice, options);
		yield chunk(
			[{ delta: { role: 'assistant' }, finish_reason: reason === 'tool_calls' ? 'stop' : reason, index }],
			index === plan.choices.length - 1,
		);
	}
	yield { bytes: 'data: [DONE]\n\n', outputTokens: 0 };
}

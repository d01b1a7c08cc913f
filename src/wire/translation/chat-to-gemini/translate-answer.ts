import type { JsonObject } from '../../json/parse-body.ts';
import { speaksOfFunctions } from '../chat/chat-tools.ts';
import { blockReasonOf, candidatesOf, finishOf } from '../gemini/finish.ts';
import { answerInvalid, CandidateReader, type CandidateSink, type ToldCall } from '../gemini/read-answer.ts';
import { withSignature } from '../thought-signature.ts';
import type { TranslatedCall } from '../translation.ts';
import { callId, completionId, finishReason, toolNamesOf } from './chat-answer.ts';
import { chatUsage } from './chat-usage.ts';

/** @throws Fault `provider_answer_invalid`. */
export function translateAnswer(body: JsonObject, call: TranslatedCall): JsonObject {
	const id = completionId(body.responseId, call);
	const candidates = candidatesOf(body);
	if (candidates.length === 0 && blockReasonOf(body) === undefined) throw answerInvalid('without a candidate');
	const choices = candidates.map((candidate, at) =>
		choiceOf(candidate, Number.isInteger(candidate.index) ? Number(candidate.index) : at, id, call),
	);
	const usage = chatUsage(body.usageMetadata, call);
	return {
		id,
		object: 'chat.completion',
		created: call.nowSeconds,
		model: typeof body.modelVersion === 'string' ? body.modelVersion : call.model,
		choices: choices.length === 0 ? [blockedChoice] : choices,
		...(usage !== undefined && { usage }),
	};
}

/** The prompt was not answered at all. */
const blockedChoice: JsonObject = {
	index: 0,
	message: { role: 'assistant', content: '', refusal: null },
	logprobs: null,
	finish_reason: 'content_filter',
};

function choiceOf(candidate: JsonObject, index: number, completion: string, call: TranslatedCall): JsonObject {
	const told = new ToldMessage();
	const reader = new CandidateReader(told);
	reader.read(candidate);
	const isLegacy = speaksOfFunctions(call.request);
	return {
		index,
		message: {
			role: 'assistant',
			content: told.text === '' && told.calls.length > 0 ? null : told.text,
			refusal: null,
			...callMembers(told.calls, isLegacy, completion, index, toolNamesOf(call.request)),
			...(told.reasoning !== '' && { reasoning_content: told.reasoning }),
			...withSignature(told.signature),
		},
		logprobs: null,
		finish_reason: finishReason(finishOf(reader), isLegacy),
	};
}

class ToldMessage implements CandidateSink {
	text = '';
	reasoning = '';
	signature: string | undefined;
	readonly calls: ToldCall[] = [];

	addText(text: string): void {
		this.text += text;
	}

	addThinking(text: string): void {
		this.reasoning += text;
	}

	addCall(call: ToldCall): void {
		this.calls.push(call);
	}

	addSignature(signature: string): void {
		this.signature = signature;
	}
}

function callMembers(
	calls: readonly ToldCall[],
	isLegacy: boolean,
	completion: string,
	choice: number,
	nameOf: (name: string) => string,
): JsonObject {
	const [first] = calls;
	if (first === undefined) return {};
	const functionOf = ({ name, args }: ToldCall): JsonObject => ({ name: nameOf(name), arguments: JSON.stringify(args) });
	if (isLegacy) return { function_call: functionOf(first) };
	const list = calls.map((call, index) => ({
		id: callId(call, completion, choice, index),
		type: 'function',
		function: functionOf(call),
		...withSignature(call.signature),
	}));
	return { tool_calls: list };
}

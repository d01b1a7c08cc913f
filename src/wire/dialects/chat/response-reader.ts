import { UpstreamError } from '../../../core/upstream-error.ts';
import { citationOf } from '../../conversation/citation.ts';
import { signatureOf } from '../../conversation/extensions.ts';
import { fitName, maxToolNameLength } from '../../conversation/fit-name.ts';
import { parseArguments } from '../../conversation/read-json.ts';
import {
	type ConversationUsage,
	type Finish,
	type ResponseReading,
	type ResponseSink,
	responseInvalid,
	type StreamReader,
} from '../../conversation/response.ts';
import type { StreamEvent } from '../../events/stream-event.ts';
import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';
import { usageOfChat } from '../../usage/usage-reader.ts';
import { readChunkError, readError } from './errors.ts';
import { SequentialCalls } from './sequential-calls.ts';

/** Translated requests ask for one choice. */
const choice = 0;

/** Reads the first choice as the response. @throws `UpstreamError` `provider_response_invalid`. */
function readBody(body: JsonObject, sink: ResponseSink): void {
	const first: unknown = Array.isArray(body.choices) ? body.choices[0] : undefined;
	if (!isJsonObject(first)) throw responseInvalid('without a choice');
	// Azure's content filter omits the message.
	const message = isJsonObject(first.message) ? first.message : {};
	const refusal = contentText(message.refusal);
	readServiceTier(body, sink);
	sink.start({ id: body.id, model: body.model });
	if (sink.wantsReasoning) sink.addReasoning(reasoningText(message), choice);
	sink.addText(contentText(message.content), choice, logprobsOf(first, sink));
	readAnnotations(message.annotations, sink);
	sink.addModelRefusal(refusal, choice);
	const calls = callsOf(message);
	for (const call of calls) readCall(call, first.finish_reason, sink);
	sink.finish(finishOf(first.finish_reason, calls.length > 0, refusal), choice);
	sink.end(reportedUsage(body.usage));
}

function callsOf({ tool_calls, function_call }: JsonObject): readonly unknown[] {
	const calls: readonly unknown[] = Array.isArray(tool_calls) ? tool_calls : [];
	return calls.length === 0 && isJsonObject(function_call) ? [{ function: function_call }] : calls;
}

function readCall(given: unknown, finishReason: unknown, sink: ResponseSink): void {
	const call: JsonObject = isJsonObject(given) ? given : {};
	const { id, function: called } = call;
	if (!isJsonObject(called) || typeof called.name !== 'string') throw responseInvalid('with a tool call without a name');
	sink.startCall({ id, name: called.name, signature: signatureOf(call) }, choice);
	sink.addArguments(argumentsOf(called.arguments, finishReason), choice);
}

/** Arguments that the token limit truncated are forwarded; other invalid ones make the response invalid. */
function argumentsOf(given: unknown, finishReason: unknown): string {
	if (isJsonObject(given)) return JSON.stringify(given);
	const text = typeof given === 'string' ? given : '';
	if (parseArguments(text) !== undefined) return text;
	if (finishReason === 'length') return '{}';
	throw responseInvalid('with tool call arguments that are not a JSON object');
}

function readServiceTier({ service_tier: tier }: JsonObject, sink: ResponseSink): void {
	if (typeof tier === 'string' && tier !== '') sink.setServiceTier(tier);
}

/** Returns the log probabilities of the text; undefined for none. Those of a `refusal` have no equivalent. */
function logprobsOf({ logprobs }: JsonObject, sink: ResponseSink): readonly JsonObject[] | undefined {
	if (!isJsonObject(logprobs)) return undefined;
	if (Array.isArray(logprobs.refusal) && logprobs.refusal.length > 0) sink.lose('logprobs');
	const tokens = Array.isArray(logprobs.content) ? logprobs.content.filter(isJsonObject) : [];
	return tokens.length === 0 ? undefined : tokens;
}

function readAnnotations(annotations: unknown, sink: ResponseSink): void {
	for (const annotation of Array.isArray(annotations) ? (annotations as readonly unknown[]) : []) {
		const citation = isJsonObject(annotation) ? citationOf(annotation.url_citation) : undefined;
		if (citation === undefined) sink.lose('citations');
		else sink.addCitation(citation, choice);
	}
}

/** Holds back the finish reason until the end of the stream, because usage comes last. */
class ChatStreamReader implements StreamReader {
	readonly #sink: ResponseSink;
	readonly #calls: SequentialCalls;
	#hasStarted = false;
	#usage: unknown;
	#finishReason: unknown;
	#refusal = '';

	constructor(sink: ResponseSink) {
		this.#sink = sink;
		this.#calls = new SequentialCalls(sink, choice);
	}

	read(event: StreamEvent): void {
		const chunk = event.json();
		if (chunk === undefined && event.data?.trim() === '[DONE]') {
			this.#finish();
			return;
		}
		if (chunk === undefined) throw responseInvalid('with an event that is not a JSON object');
		if (event.name === 'error' || isJsonObject(chunk.error) || typeof chunk.error === 'string') {
			this.#sink.fail(readChunkError(chunk));
			return;
		}
		if (isJsonObject(chunk.usage)) this.#usage = chunk.usage;
		readServiceTier(chunk, this.#sink);
		const first = firstChoice(chunk.choices);
		if (first === undefined) return;
		if (!this.#hasStarted) {
			this.#hasStarted = true;
			this.#sink.start({ id: chunk.id, model: chunk.model });
		}
		if (isJsonObject(first.delta)) this.#addDelta(first.delta, logprobsOf(first, this.#sink));
		if (typeof first.finish_reason === 'string') this.#finishReason = first.finish_reason;
	}

	end(): void {
		if (this.#finishReason === undefined) throw new UpstreamError('provider_disconnected');
		this.#finish();
	}

	#addDelta(delta: JsonObject, logprobs: readonly JsonObject[] | undefined): void {
		const reasoning = this.#sink.wantsReasoning ? reasoningText(delta) : '';
		const text = contentText(delta.content);
		const refusal = contentText(delta.refusal);
		if (reasoning + text + refusal !== '') this.#calls.flush();
		if (reasoning !== '') this.#sink.addReasoning(reasoning, choice);
		if (text !== '' || logprobs !== undefined) this.#sink.addText(text, choice, logprobs);
		readAnnotations(delta.annotations, this.#sink);
		if (refusal !== '') {
			this.#refusal += refusal;
			this.#sink.addModelRefusal(refusal, choice);
		}
		if (Array.isArray(delta.tool_calls)) this.#calls.add(delta.tool_calls);
		else if (isJsonObject(delta.function_call)) this.#calls.add([{ index: 0, function: delta.function_call }]);
	}

	#finish(): void {
		if (!this.#hasStarted) throw responseInvalid('with a stream without a choice');
		this.#calls.flush();
		if (this.#finishReason !== 'length') this.#calls.requireComplete();
		this.#sink.finish(finishOf(this.#finishReason, this.#calls.hasWritten, this.#refusal), choice);
		this.#sink.end(reportedUsage(this.#usage));
	}
}

/** Further choices were not requested. */
function firstChoice(choices: unknown): JsonObject | undefined {
	if (!Array.isArray(choices)) return undefined;
	const list: readonly unknown[] = choices;
	return list.find((one): one is JsonObject => isJsonObject(one) && (one.index ?? 0) === 0);
}

/** A `refusal` is reported as one even if OpenAI's finish reason is an ordinary stop, so that clients do not parse it. */
function finishOf(finishReason: unknown, hasCalls: boolean, refusal: string): Finish {
	if (refusal !== '') return { reason: 'refused', explanation: refusal };
	if (finishReason === 'length') return { reason: 'length' };
	if (finishReason === 'content_filter') return { reason: 'filtered' };
	return { reason: hasCalls ? 'calls' : 'stop' };
}

/** Returns the reasoning that models of other vendors show; empty for none. */
function reasoningText({ reasoning_content, reasoning }: JsonObject): string {
	if (typeof reasoning_content === 'string') return reasoning_content;
	return typeof reasoning === 'string' ? reasoning : '';
}

/** Accepts a string, or the list of parts that some vendors send. */
function contentText(content: unknown): string {
	if (typeof content === 'string') return content;
	if (!Array.isArray(content)) return '';
	return content.map((part: unknown) => (isJsonObject(part) && typeof part.text === 'string' ? part.text : '')).join('');
}

function reportedUsage(reported: unknown): ConversationUsage {
	return { usage: usageOfChat(reported), reportsCacheWrites: false, reportsReasoning: true };
}

export const chatReading: ResponseReading = {
	createStreamReader: (sink) => new ChatStreamReader(sink),
	readBody,
	readError,
	fitToolName: (name) => fitName(name, maxToolNameLength),
};

import { UpstreamError } from '../../../core/upstream-error.ts';
import type { Usage } from '../../../core/usage.ts';
import {
	type ConversationUsage,
	type FinishReason,
	type ResponseReading,
	type ResponseSink,
	responseInvalid,
	type StreamReader,
} from '../../conversation/response.ts';
import type { StreamEvent } from '../../events/stream-event.ts';
import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';
import { usageOfGemini } from '../../usage/usage-reader.ts';
import { CandidateReader } from './candidate-reader.ts';
import { readError } from './errors.ts';
import { geminiToolName } from './model.ts';

/** @throws `UpstreamError` `provider_response_invalid`. */
function readBody(body: JsonObject, sink: ResponseSink): void {
	const candidates = sink.takesChoices ? candidatesOf(body) : candidatesOf(body).slice(0, 1);
	const blockReason = blockReasonOf(body);
	if (candidates.length === 0 && blockReason === undefined) throw responseInvalid('without a candidate');
	sink.start({ id: body.responseId, model: body.modelVersion });
	for (const [at, candidate] of candidates.entries()) {
		const choice = sink.takesChoices ? choiceOf(candidate, at) : 0;
		const reader = new CandidateReader(sink, choice);
		reader.read(candidate);
		sink.finish({ reason: finishOf(reader) }, choice);
	}
	if (candidates.length === 0 && blockReason !== undefined) finishBlocked(blockReason, sink);
	sink.end(reportedUsage(body.usageMetadata));
}

/** No mark identifies the last partial response, so the finish reason waits for the end of the stream. */
class GeminiStreamReader implements StreamReader {
	readonly #sink: ResponseSink;
	readonly #candidates = new Map<number, CandidateReader>();
	#hasStarted = false;
	#usage: unknown;
	#blockReason: string | undefined;

	constructor(sink: ResponseSink) {
		this.#sink = sink;
	}

	/** An error may arrive in a list. */
	read(event: StreamEvent): void {
		const partial = unlisted(event.value());
		// Terminal event of Google's own layer for chat completions.
		if (partial === undefined && event.data?.trim() === '[DONE]') return;
		if (!isJsonObject(partial)) throw responseInvalid('with an event that is not a JSON object');
		if (partial.error !== undefined) {
			this.#sink.fail(readError(200, partial));
			return;
		}
		if (partial.usageMetadata !== undefined) this.#usage = partial.usageMetadata;
		this.#blockReason ??= blockReasonOf(partial);
		const candidates = candidatesOf(partial)
			.map((candidate, at) => ({ candidate, choice: choiceOf(candidate, at) }))
			.filter(({ choice }) => this.#sink.takesChoices || choice === 0);
		if (candidates.length === 0 && this.#blockReason === undefined) return;
		this.#start(partial);
		for (const { candidate, choice } of candidates) this.#candidate(choice).read(candidate);
	}

	end(): void {
		if (this.#candidates.size === 0 && this.#blockReason !== undefined) finishBlocked(this.#blockReason, this.#sink);
		else this.#finish();
		this.#sink.end(reportedUsage(this.#usage));
	}

	#finish(): void {
		if (this.#candidates.size === 0) throw responseInvalid('with a stream without a candidate');
		for (const { finishReason } of this.#candidates.values()) {
			if (finishReason === undefined) throw new UpstreamError('provider_disconnected');
		}
		for (const [choice, reader] of this.#candidates) this.#sink.finish({ reason: finishOf(reader) }, choice);
	}

	#start({ responseId, modelVersion }: JsonObject): void {
		if (this.#hasStarted) return;
		this.#hasStarted = true;
		this.#sink.start({ id: responseId, model: modelVersion, usage: inputUsage(this.#usage) });
	}

	#candidate(choice: number): CandidateReader {
		const known = this.#candidates.get(choice) ?? new CandidateReader(this.#sink, choice);
		this.#candidates.set(choice, known);
		return known;
	}
}

/** Google's servers put errors into lists of one. */
export function unlisted(value: unknown): unknown {
	return Array.isArray(value) ? (value as readonly unknown[])[0] : value;
}

function choiceOf({ index }: JsonObject, at: number): number {
	return Number.isInteger(index) ? Number(index) : at;
}

/** Finishes a response whose prompt was blocked. */
function finishBlocked(reason: string, sink: ResponseSink): void {
	sink.finish({ reason: 'filtered', explanation: `The provider’s filter blocked the prompt: ${reason}` }, 0);
}

/** Reads the input usage of the first partial response, which does not contain all of the output yet. */
function inputUsage(reported: unknown): Usage | undefined {
	const usage = usageOfGemini(reported);
	return usage && { ...usage, outputTokens: 0, reasoningTokens: 0 };
}

function reportedUsage(reported: unknown): ConversationUsage {
	return { usage: usageOfGemini(reported), reportsCacheWrites: false, reportsReasoning: true };
}

/** Finish reasons of the provider's filters, for recitation, and for an unsupported language. */
const filtered: ReadonlySet<unknown> = new Set([
	'SAFETY',
	'RECITATION',
	'LANGUAGE',
	'BLOCKLIST',
	'PROHIBITED_CONTENT',
	'SPII',
	'MODEL_ARMOR',
	'IMAGE_SAFETY',
	'IMAGE_PROHIBITED_CONTENT',
	'IMAGE_RECITATION',
]);

/** Finish reasons of a model that failed: its content so far is valid, and an empty response is an error. */
const failed: ReadonlySet<unknown> = new Set([
	'MALFORMED_FUNCTION_CALL',
	'UNEXPECTED_TOOL_CALL',
	'TOO_MANY_TOOL_CALLS',
	'MISSING_THOUGHT_SIGNATURE',
	'MALFORMED_RESPONSE',
	'NO_IMAGE',
	'IMAGE_OTHER',
	'OTHER',
]);

/** @throws `UpstreamError` `provider_response_invalid` for a response without content. */
export function finishOf({ finishReason, hasParts, hasCalls }: CandidateReader): FinishReason {
	if (finishReason === 'MAX_TOKENS') return 'length';
	if (filtered.has(finishReason)) return 'filtered';
	if (typeof finishReason === 'string' && failed.has(finishReason) && !hasParts) {
		throw responseInvalid(`with only \`${finishReason}\``);
	}
	return hasCalls ? 'calls' : 'stop';
}

function finishWarnings(body: JsonObject): readonly string[] {
	const reasons = candidatesOf(body).map(({ finishReason }) => finishReason);
	return [...new Set(reasons.filter((reason) => failed.has(reason)))].map((reason) => `the model stopped with ${String(reason)}`);
}

/** Returns the reason of a blocked prompt; undefined if there is none. */
export function blockReasonOf({ promptFeedback }: JsonObject): string | undefined {
	const reason = isJsonObject(promptFeedback) ? promptFeedback.blockReason : undefined;
	return typeof reason === 'string' ? reason : undefined;
}

export function candidatesOf({ candidates }: JsonObject): readonly JsonObject[] {
	return Array.isArray(candidates) ? candidates.filter(isJsonObject) : [];
}

export const geminiReading: ResponseReading = {
	createStreamReader: (sink) => new GeminiStreamReader(sink),
	readBody,
	readError,
	finishWarnings,
	fitToolName: geminiToolName,
};

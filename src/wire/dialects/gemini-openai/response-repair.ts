import { UpstreamError } from '../../../core/upstream-error.ts';
import { type ResponseContext, responseInvalid, type StreamReader, type WrittenStream } from '../../conversation/response.ts';
import type { StreamEvent } from '../../events/stream-event.ts';
import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';
import { usageOfChat } from '../../usage/usage-reader.ts';
import { writeUsage } from '../chat/completion-writer.ts';
import { writeError } from '../chat/errors.ts';
import { wantsUsage } from '../chat/response-writer.ts';
import { readError } from '../gemini/errors.ts';
import { unlisted } from '../gemini/response-reader.ts';

const done = 'data: [DONE]\n\n';

/** Repairs chunks that deviate from OpenAI's: calls get their index and id, and the finish reason reports calls. */
export class StreamRepair implements StreamReader, WrittenStream {
	isTerminated = false;
	hasFailed = false;
	readonly #call: ResponseContext;
	#events: string[] = [];
	#id = '';
	/** Common members of the latest chunk. */
	#head: JsonObject = {};
	/** Ids of the calls of each choice. */
	readonly #callIds = new Map<number, string[]>();
	/** True for each choice that has ended. */
	readonly #finished = new Map<number, boolean>();

	constructor(call: ResponseContext) {
		this.#call = call;
	}

	end(): void {
		if (!this.#isFinished) throw new UpstreamError('provider_disconnected');
		this.#terminate();
	}

	read(event: StreamEvent): void {
		const chunk = unlisted(event.value());
		if (chunk === undefined && event.data?.trim() === '[DONE]') {
			if (!this.#isFinished) throw responseInvalid('with a stream that has no end');
			this.#terminate();
			return;
		}
		if (!isJsonObject(chunk)) throw responseInvalid('with an event that is not a JSON object');
		if (chunk.error !== undefined && chunk.error !== null) {
			this.#events.push(`data: ${JSON.stringify(writeError(readError(200, chunk), this.#call))}\n\n`);
			this.hasFailed = true;
			return;
		}
		if (this.#id === '') this.#id = responseId(chunk.id, this.#call);
		this.#events.push(`data: ${JSON.stringify(this.#repair(chunk))}\n\n`);
	}

	#repair(chunk: JsonObject): JsonObject {
		const choices: readonly unknown[] = Array.isArray(chunk.choices) ? chunk.choices : [];
		this.#head = { id: this.#id, object: 'chat.completion.chunk', created: chunk.created, model: chunk.model };
		return {
			...chunk,
			...this.#head,
			choices: choices.filter(isJsonObject).map((choice, at) => this.#repairChoice(choice, at)),
			...repairedUsage(chunk.usage),
		};
	}

	#repairChoice(choice: JsonObject, at: number): JsonObject {
		const index = Number.isInteger(choice.index) ? Number(choice.index) : at;
		const delta = isJsonObject(choice.delta) ? choice.delta : {};
		const calls = Array.isArray(delta.tool_calls) ? delta.tool_calls.filter(isJsonObject) : [];
		const repaired = calls.map((call) => this.#repairCall(call, index));
		const beginning = this.#finished.has(index) ? {} : { role: 'assistant', content: null };
		this.#finished.set(index, typeof choice.finish_reason === 'string' || this.#finished.get(index) === true);
		return {
			...choice,
			index,
			delta: { ...beginning, ...delta, ...(repaired.length > 0 && { tool_calls: repaired }) },
			finish_reason: repairedReason(choice.finish_reason ?? null, this.#callIds.has(index)),
		};
	}

	/** Calls arrive complete: one with a name and no known id is new. */
	#repairCall(call: JsonObject, choice: number): JsonObject {
		const ids = this.#callIds.get(choice) ?? [];
		this.#callIds.set(choice, ids);
		const { name } = isJsonObject(call.function) ? call.function : {};
		const isNamed = typeof name === 'string' && name !== '';
		const known = typeof call.id === 'string' && call.id !== '' ? ids.indexOf(call.id) : -1;
		if (isNamed && known === -1) {
			const id = callId(call.id, this.#id, ids.length);
			return { ...call, index: ids.push(id) - 1, id, type: 'function' };
		}
		const reported = Number.isInteger(call.index) ? Number(call.index) : ids.length - 1;
		return { ...call, index: Math.max(known === -1 ? reported : known, 0) };
	}

	get #isFinished(): boolean {
		return this.#finished.size > 0 && [...this.#finished.values()].every(Boolean);
	}

	#terminate(): void {
		// Usage that the provider reported was forwarded already.
		if (wantsUsage(this.#call) && this.#call.charged?.()?.isEstimated === true) {
			this.#events.push(`data: ${JSON.stringify({ ...this.#head, choices: [], ...repairedUsage(undefined, this.#call) })}\n\n`);
		}
		this.#events.push(done);
		this.isTerminated = true;
	}

	take(): readonly string[] {
		const events = this.#events;
		this.#events = [];
		return events;
	}
}

/** @throws `UpstreamError` `provider_response_invalid`. */
export function repairBody(body: JsonObject, call: ResponseContext): JsonObject {
	const { choices } = body;
	if (!Array.isArray(choices) || choices.length === 0) throw responseInvalid('without a choice');
	const id = responseId(body.id, call);
	return {
		...body,
		id,
		object: 'chat.completion',
		created: body.created ?? call.nowSeconds,
		model: body.model ?? call.model,
		choices: choices.map((choice: unknown, at) => repairChoice(isJsonObject(choice) ? choice : {}, at, id)),
		...repairedUsage(body.usage, call),
	};
}

export function responseId(id: unknown, { requestId }: ResponseContext): string {
	return typeof id === 'string' && id !== '' ? id : `chatcmpl-${requestId}`;
}

/** A result could not name a call without an id. */
export function callId(id: unknown, response: string, index: number): string {
	return typeof id === 'string' && id !== '' ? id : `call_${response.replace(/^chatcmpl-/, '')}_${index}`;
}

/**
 * Adds thinking tokens, which only the total includes. @param call undefined in the middle of a stream, where the charged usage is not
 * known yet.
 */
export function repairedUsage(reported: unknown, call?: ResponseContext): JsonObject {
	const charged = call?.charged?.();
	if (charged?.isEstimated === true) return { usage: writeUsage(charged.usage) };
	const usage = usageOfChat(reported);
	if (usage === undefined || !isJsonObject(reported)) return {};
	const details = usage.reasoningTokens > 0 ? { completion_tokens_details: { reasoning_tokens: usage.reasoningTokens } } : {};
	return { usage: { ...reported, completion_tokens: usage.outputTokens, ...details } };
}

function repairChoice(choice: JsonObject, at: number, response: string): JsonObject {
	const message = isJsonObject(choice.message) ? choice.message : {};
	const calls: readonly unknown[] = Array.isArray(message.tool_calls) ? message.tool_calls : [];
	const repaired = calls.map((call, index) =>
		isJsonObject(call) ? { ...call, id: callId(call.id, response, index), type: 'function' } : call,
	);
	return {
		...choice,
		index: choice.index ?? at,
		message: {
			role: 'assistant',
			content: null,
			refusal: null,
			...message,
			...(repaired.length > 0 && { tool_calls: repaired }),
		},
		logprobs: choice.logprobs ?? null,
		finish_reason: repairedReason(choice.finish_reason ?? 'stop', repaired.length > 0),
	};
}

export function repairedReason(reason: unknown, hasCalls: boolean): unknown {
	return hasCalls && reason === 'stop' ? 'tool_calls' : reason;
}

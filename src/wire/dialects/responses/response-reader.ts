import { UpstreamError } from '../../../core/upstream-error.ts';
import { fitName, maxToolNameLength } from '../../conversation/fit-name.ts';
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
import { usageOfResponses } from '../../usage/usage-reader.ts';
import { readError, readEventError } from './errors.ts';
import { type ContentKind, isReadable, OutputItem } from './output-item.ts';

/** The dialect has one choice. */
const choice = 0;

/** @throws `UpstreamError` `provider_response_invalid`, `provider_failed`. */
function readBody(body: JsonObject, sink: ResponseSink): void {
	const { status, output } = body;
	if (status === 'failed') throw new UpstreamError('provider_failed', { message: readError(200, body).message });
	if (!Array.isArray(output)) throw responseInvalid('without output');
	if (status === 'in_progress' || status === 'queued' || status === 'cancelled') throw responseInvalid(`that is \`${status}\``);
	sink.start({ id: body.id, model: body.model });
	const items: OutputItem[] = [];
	for (const given of output.filter(isReadable)) {
		const item = new OutputItem(given.type, items);
		items.push(item);
		item.complete(given);
		item.write(sink);
	}
	finish(items, status === 'incomplete', body, sink);
}

/** Locations of content: type of the item, kind of content, and the member with the whole content in the event that ends it. */
const contents: Readonly<Record<string, readonly [type: string, kind: ContentKind, member: string]>> = {
	'response.output_text': ['message', 'text', 'text'],
	'response.refusal': ['message', 'refusal', 'refusal'],
	'response.reasoning_summary_text': ['reasoning', 'summary', 'text'],
	'response.reasoning_text': ['reasoning', 'reasoning', 'text'],
	'response.function_call_arguments': ['function_call', 'arguments', 'arguments'],
	'response.custom_tool_call_input': ['custom_tool_call', 'input', 'input'],
};

/**
 * Items may overlap, but their content is written item by item, in the order in which they begin. Events of later items wait until the
 * earlier item is done.
 */
class ResponsesStreamReader implements StreamReader {
	readonly #sink: ResponseSink;
	/** All items, in order. */
	readonly #items: OutputItem[] = [];
	readonly #byIndex = new Map<unknown, OutputItem>();
	/** Number of items that are done and written. */
	#doneCount = 0;
	#hasStarted = false;

	constructor(sink: ResponseSink) {
		this.#sink = sink;
	}

	read(streamed: StreamEvent): void {
		const event = streamed.json();
		// Terminal event of some compatible servers, after the dialect's own.
		if (event === undefined && streamed.data?.trim() === '[DONE]') return;
		if (event === undefined) throw responseInvalid('with an event that is not a JSON object');
		const type = typeof event.type === 'string' ? event.type : streamed.name;
		switch (type) {
			case 'response.created':
			case 'response.in_progress':
				return this.#start(event.response);
			case 'response.output_item.added':
			case 'response.output_item.done':
				return this.#readItem(event, type.endsWith('done'));
			case 'response.completed':
			case 'response.incomplete':
				return this.#end(event.response, type.endsWith('incomplete'));
			case 'response.failed':
			case 'error':
				return this.#sink.fail(readEventError(event));
			default:
				return this.#readContent(event, type);
		}
	}

	/** Always an error, because the dialect has a terminal event. */
	end(): never {
		throw new UpstreamError('provider_disconnected');
	}

	#start(response: unknown): void {
		if (this.#hasStarted) return;
		this.#hasStarted = true;
		const { id, model } = isJsonObject(response) ? response : {};
		this.#sink.start({ id, model });
		this.#sink.startChoice(choice);
	}

	#readItem({ item, output_index, item_id }: JsonObject, isDone: boolean): void {
		if (!isReadable(item)) return;
		const key = output_index ?? item.id ?? item_id;
		const earlier = this.#byIndex.get(key);
		// Some servers give every item the same index.
		if (earlier?.isComplete === true && !earlier.isNamedBy(item)) this.#byIndex.delete(key);
		const known = this.#itemAt(key, item.type);
		if (isDone) known.complete(item);
		else known.describe(item);
		this.#write();
	}

	#readContent(event: JsonObject, type: string): void {
		if (type === 'response.output_text.annotation.added') {
			const { content_index, annotation_index, annotation } = event;
			this.#itemOf(event, 'message').annotate(content_index, annotation_index, annotation);
			return this.#write();
		}
		if (type === 'response.content_part.done') {
			const { content_index, part } = event;
			if (!isJsonObject(part) || part.type !== 'output_text') return;
			this.#itemOf(event, 'message').replaceText(content_index, part);
			return this.#write();
		}
		const dot = type.lastIndexOf('.');
		const content = contents[type.slice(0, dot)];
		if (content === undefined) return;
		const [itemType, kind, member] = content;
		const item = this.#itemOf(event, itemType);
		const index = event.content_index ?? event.summary_index ?? 0;
		if (type.endsWith('.delta')) item.add(kind, index, event.delta, event.logprobs);
		else item.replace(kind, index, event[member], event.logprobs);
		this.#write();
	}

	/** Some servers omit the index, so that the id identifies the item, or else its type. */
	#itemOf({ output_index, item_id: id }: JsonObject, type: string): OutputItem {
		if (output_index !== undefined) return this.#itemAt(output_index, type);
		const named = this.#items.findLast((item) => item.isNamedBy({ id }));
		return named ?? this.#items.findLast((item) => item.type === type && !item.isComplete) ?? this.#itemAt(id, type);
	}

	/** Some relays change an item's id on the way, so that its index identifies it. */
	#itemAt(key: unknown, type: unknown): OutputItem {
		this.#start(undefined);
		const known = this.#byIndex.get(key);
		if (known !== undefined) return known;
		const item = new OutputItem(type, this.#items);
		this.#byIndex.set(key, item);
		this.#items.push(item);
		return item;
	}

	#write(): void {
		for (let item = this.#items[this.#doneCount]; item !== undefined; item = this.#items[++this.#doneCount]) {
			item.write(this.#sink);
			if (!item.isComplete) return;
		}
	}

	#end(given: unknown, isIncomplete: boolean): void {
		const response = isJsonObject(given) ? given : {};
		this.#start(response);
		if (Array.isArray(response.output)) this.#addMissing(response.output.filter(isReadable));
		for (const item of this.#items) if (!item.isComplete) item.complete({});
		this.#write();
		finish(this.#items, isIncomplete, response, this.#sink);
	}

	/** Completes items by the final list, which some servers leave empty and others do not stream before. */
	#addMissing(output: readonly JsonObject[]): void {
		const unmatched = new Set(this.#items);
		const match = (given: JsonObject, isSame: (item: OutputItem) => boolean): boolean => {
			const item = [...unmatched].find(isSame);
			if (item === undefined) return false;
			unmatched.delete(item);
			if (!item.isComplete) item.complete(given);
			return true;
		};
		const rest = output.filter((given) => !match(given, (item) => item.isNamedBy(given)));
		for (const given of rest) {
			if (match(given, (item) => item.type === given.type)) continue;
			const item = new OutputItem(given.type, this.#items);
			item.complete(given);
			this.#items.push(item);
		}
	}
}

/** @throws `UpstreamError` `provider_response_invalid` for a complete response with invalid arguments. */
function finish(items: readonly OutputItem[], isIncomplete: boolean, response: JsonObject, sink: ResponseSink): void {
	if (!isIncomplete && items.some(({ hasInvalidArguments }) => hasInvalidArguments)) {
		throw responseInvalid('with tool call arguments that are not a JSON object');
	}
	const { incomplete_details, usage, service_tier: tier } = response;
	if (typeof tier === 'string' && tier !== '') sink.setServiceTier(tier);
	const refusal = items.map((item) => item.refusal).join('');
	const reason = isJsonObject(incomplete_details) ? incomplete_details.reason : undefined;
	sink.finish(finishOf(items, refusal, isIncomplete ? (reason ?? 'max_output_tokens') : undefined), choice);
	sink.end(reportedUsage(usage));
}

function finishOf(items: readonly OutputItem[], refusal: string, incompleteReason: unknown): Finish {
	if (refusal !== '') return { reason: 'refused', explanation: refusal };
	if (incompleteReason === 'content_filter') return { reason: 'filtered' };
	if (incompleteReason !== undefined) return { reason: 'length' };
	return { reason: items.some(({ isCall }) => isCall) ? 'calls' : 'stop' };
}

function reportedUsage(reported: unknown): ConversationUsage {
	const details = isJsonObject(reported) && isJsonObject(reported.input_tokens_details) ? reported.input_tokens_details : {};
	return {
		usage: usageOfResponses(reported),
		reportsCacheWrites: typeof details.cache_write_tokens === 'number',
		reportsReasoning: true,
	};
}

export const responsesReading: ResponseReading = {
	createStreamReader: (sink) => new ResponsesStreamReader(sink),
	readBody,
	readError,
	fitToolName: (name) => fitName(name, maxToolNameLength),
};

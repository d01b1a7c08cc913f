/** Streams a response of the Responses API: every event of the vendor's grammar, with gapless sequence numbers. */
import { type JsonObject, listOf, objectOf, textOf } from '../../json-value.ts';
import { type ResponseStep, stepsOf } from '../../plan/response-steps.ts';
import type { SeededRandom } from '../../seeded-random.ts';
import { renderLogprobs } from '../openai/render-chat.ts';
import type { WireEvent, WireResponse } from '../wire.ts';
import {
	finalState,
	type OutputItem,
	type ResponseRequest,
	type ResponseState,
	renderItems,
	renderResponse,
	responseId,
	serverError,
} from './render-response.ts';
import { sealContent } from './seal-content.ts';

export interface ResponseStream {
	events(response: WireResponse): Generator<WireEvent>;
	/** Renders an error at the current place of the stream: an `error` event, then `response.failed`. */
	errorEvent(): string;
}

export function createResponseStream(request: ResponseRequest): ResponseStream {
	const writer = createEventWriter(objectOf(request.body['stream_options'])['include_obfuscation'] !== false);
	let current: ResponseState = { id: '', createdSeconds: 0, status: 'in_progress', output: [], usage: null };
	let store = (_response: JsonObject): void => {};
	let isOver = false;

	const stateEvent = (type: string, state: ResponseState): WireEvent => {
		current = state;
		const rendered = renderResponse(request, state);
		store(rendered);
		return writer.event(type, { response: rendered });
	};

	return {
		*events(response) {
			if (response.storage !== undefined) store = response.storage.store;
			const { random, quirks, plan } = response;
			const id = responseId(random);
			const items = renderItems(response, request);
			current = { ...current, id, createdSeconds: response.createdSeconds };
			const steps = stepsOf(plan, () => quirks.tokensPerEvent ?? 1);
			try {
				yield stateEvent('response.created', current);
				if (request.isBackground) yield stateEvent('response.queued', { ...current, status: 'queued' });
				yield stateEvent('response.in_progress', { ...current, status: 'in_progress' });
				for (const [index, entry] of items.entries()) {
					yield* streamItem(entry, { index, steps, writer, request, response });
					current = { ...current, output: [...current.output, entry.item] };
					if (quirks.repeatsStart && index === 0) yield stateEvent('response.created', { ...current, status: 'in_progress' });
				}
				const final = finalState(id, response, current.output);
				isOver = true;
				yield { ...stateEvent(`response.${final.status}`, final), isLast: true };
			} finally {
				if (!isOver) store(renderResponse(request, { ...current, status: 'cancelled' }));
			}
		},
		errorEvent() {
			isOver = true;
			const { code, message } = serverError;
			const error = { type: 'server_error', code, message, param: null };
			const event = writer.event('error', { code, message, param: null, error });
			const failed = stateEvent('response.failed', { ...current, status: 'failed', error: serverError });
			return `${event.bytes.toString()}${failed.bytes.toString()}`;
		},
	};
}

interface EventWriter {
	event(type: string, fields: JsonObject, outputTokens?: number, webSearches?: number): WireEvent;
	/** Event that carries a piece of generated text. */
	delta(type: string, fields: JsonObject, step: ResponseStep, random: SeededRandom): WireEvent;
}

function createEventWriter(includesObfuscation: boolean): EventWriter {
	let sequence = 0;
	const event: EventWriter['event'] = (type, fields, outputTokens = 0, webSearches = 0) => {
		const sorted = Object.entries({ ...fields, sequence_number: sequence++ }).toSorted(([one], [other]) => (one < other ? -1 : 1));
		const data = JSON.stringify({ type, ...Object.fromEntries(sorted) });
		return { bytes: `event: ${type}\ndata: ${data}\n\n`, outputTokens, webSearches };
	};
	return {
		event,
		delta(type, fields, { text, outputTokens }, random) {
			const padding = includesObfuscation ? { obfuscation: random.letters(random.integer(4, 16)) } : {};
			return event(type, { ...fields, delta: text, ...padding }, outputTokens);
		},
	};
}

interface ItemContext {
	readonly index: number;
	/** Steps of the response; each generated item takes its own. */
	readonly steps: Generator<ResponseStep>;
	readonly writer: EventWriter;
	readonly request: ResponseRequest;
	readonly response: WireResponse;
}

function* streamItem(entry: OutputItem, context: ItemContext): Generator<WireEvent> {
	const { item, kind } = entry;
	const { index, writer, response, request, steps } = context;
	const place = { output_index: index };
	const hasSteps =
		kind === 'thinking' || kind === 'call' || kind === 'refusal' || (kind === 'text' && response.plan.choices[0]?.text !== '');
	// The opening step carries the tokens of a call's name.
	const nameTokens = hasSteps ? takeOpening(steps) : 0;
	yield writer.event('response.output_item.added', { item: opened(item, request, response.random), ...place }, nameTokens);
	let hidden = 0;
	switch (kind) {
		case 'thinking':
			hidden = yield* streamReasoning(item, context);
			break;
		case 'text':
		case 'refusal':
			yield* streamMessage(item, hasSteps, context);
			break;
		case 'call':
			hidden = yield* streamCall(item, context);
			break;
		case 'search':
			yield* streamSearch(item, context);
			break;
		case 'other':
			break;
	}
	yield writer.event('response.output_item.done', { item, ...place }, hidden);
}

/** Returns an item as it is announced, before its content is generated. */
function opened(item: JsonObject, { owner }: ResponseRequest, random: SeededRandom): JsonObject {
	switch (item['type']) {
		case 'message':
			return { ...item, status: 'in_progress', content: [] };
		case 'function_call':
			return { ...item, status: 'in_progress', arguments: '' };
		case 'custom_tool_call':
			return { ...item, status: 'in_progress', input: '' };
		case 'tool_search_call':
			return { ...item, status: 'in_progress', arguments: {} };
		case 'web_search_call':
			return { id: item['id'], type: item['type'], status: 'in_progress' };
		case 'reasoning': {
			// The vendor's first encrypted content is incomplete, and rejected when it comes back.
			const sealed = 'encrypted_content' in item ? { encrypted_content: sealContent(`${owner} incomplete`, '', random) } : {};
			return { ...item, ...sealed, summary: [] };
		}
		default:
			return 'status' in item ? { ...item, status: 'in_progress' } : item;
	}
}

/** Takes the step that opens a part. @returns its tokens. */
function takeOpening(steps: Generator<ResponseStep>): number {
	const next = steps.next();
	return next.done === true ? 0 : next.value.outputTokens;
}

function takeHidden(steps: Generator<ResponseStep>): number {
	let tokens = 0;
	for (const step of pieces(steps)) tokens += step.outputTokens;
	return tokens;
}

/** Yields the pieces of the part whose opening step was taken. */
function* pieces(steps: Generator<ResponseStep>): Generator<ResponseStep> {
	for (;;) {
		const next = steps.next();
		if (next.done === true || next.value.phase === 'close') return;
		yield next.value;
	}
}

/** @returns the tokens of a reasoning that is not shown. */
function* streamReasoning(item: JsonObject, { index, steps, writer, response }: ItemContext): Generator<WireEvent, number> {
	const [summary] = listOf(item['summary']).map(objectOf);
	if (summary === undefined) return takeHidden(steps);
	const place = { item_id: item['id'], output_index: index, summary_index: 0 };
	yield writer.event('response.reasoning_summary_part.added', { ...place, part: { type: 'summary_text', text: '' } });
	for (const step of pieces(steps)) yield writer.delta('response.reasoning_summary_text.delta', place, step, response.random);
	yield writer.event('response.reasoning_summary_text.done', { ...place, text: summary['text'] });
	yield writer.event('response.reasoning_summary_part.done', { ...place, part: summary });
	return 0;
}

function* streamMessage(item: JsonObject, hasSteps: boolean, { index, steps, writer, response }: ItemContext): Generator<WireEvent> {
	const place = { content_index: 0, item_id: item['id'], output_index: index };
	const [part = {}] = listOf(item['content']).map(objectOf);
	const isRefusal = part['type'] === 'refusal';
	const empty = isRefusal ? { type: 'refusal', refusal: '' } : { type: 'output_text', annotations: [], logprobs: [], text: '' };
	const hasLogprobs = listOf(part['logprobs']).length > 0;
	yield writer.event('response.content_part.added', { ...place, part: empty });
	for (const step of hasSteps ? pieces(steps) : []) {
		if (isRefusal) yield writer.delta('response.refusal.delta', place, step, response.random);
		else {
			const logprobs = hasLogprobs ? renderLogprobs(step.text)['content'] : [];
			yield writer.delta('response.output_text.delta', { ...place, logprobs }, step, response.random);
		}
	}
	for (const [at, annotation] of listOf(part['annotations']).entries()) {
		yield writer.event('response.output_text.annotation.added', { ...place, annotation, annotation_index: at });
	}
	if (isRefusal) yield writer.event('response.refusal.done', { ...place, refusal: part['refusal'] });
	else yield writer.event('response.output_text.done', { ...place, logprobs: part['logprobs'], text: part['text'] });
	yield writer.event('response.content_part.done', { ...place, part });
}

/** @returns the tokens of arguments that come only with the finished item. */
function* streamCall(item: JsonObject, { index, steps, writer, response }: ItemContext): Generator<WireEvent, number> {
	const isIndexed = !response.quirks.omitsIndex;
	const place = { item_id: item['id'], ...(isIndexed && { output_index: index }) };
	if (item['type'] === 'tool_search_call') return takeHidden(steps);
	const isFreeText = item['type'] === 'custom_tool_call';
	const name = isFreeText ? 'response.custom_tool_call_input' : 'response.function_call_arguments';
	for (const step of pieces(steps)) yield writer.delta(`${name}.delta`, place, step, response.random);
	const whole = isFreeText ? { input: textOf(item['input']) } : { arguments: textOf(item['arguments']) };
	yield writer.event(`${name}.done`, { ...place, ...whole });
	return 0;
}

function* streamSearch(item: JsonObject, { index, writer }: ItemContext): Generator<WireEvent> {
	const place = { item_id: item['id'], output_index: index };
	yield writer.event('response.web_search_call.in_progress', place);
	yield writer.event('response.web_search_call.searching', place, 0, 1);
	yield writer.event('response.web_search_call.completed', place);
}

/** The Responses API, for each dialect that has it. */
import { isGiven, type JsonObject } from '../../json-value.ts';
import type { OpenAiModel } from '../openai/openai-models.ts';
import type { WireApi, WireResponse, WireTarget } from '../wire.ts';
import { checkResponse } from './check-response.ts';
import { readCompactionPrompt, readResponsePrompt } from './read-response.ts';
import {
	finalState,
	hexFrom,
	type ResponseRequest,
	renderCompaction,
	renderItems,
	renderResponse,
	renderResponseUsage,
	responseId,
} from './render-response.ts';
import { createResponseStream } from './stream-response.ts';

export interface ResponsesDialect {
	readonly name: string;
	/** @throws VendorError for an unknown model. */
	modelOf(name: string): OpenAiModel;
	readKey(target: WireTarget): string;
	/** Adds the fields of the vendor's own to a response object. */
	shape(response: JsonObject): JsonObject;
}

export function createResponsesApi({ name, modelOf, readKey, shape }: ResponsesDialect): WireApi {
	const ownerOf = (target: WireTarget): string => `${name} ${readKey(target)}`;
	return {
		readPrompt(body, modelName, target) {
			const model = modelOf(modelName);
			checkResponse(body, model, ownerOf(target));
			return target.action === 'compact' ? readCompactionPrompt(body, modelName, model) : readResponsePrompt(body, modelName, model);
		},
		openRequest(body, modelName, target) {
			const model = modelOf(modelName);
			const isBackground = body['background'] === true;
			const request: ResponseRequest = { body, model, owner: ownerOf(target), isBackground, shape };
			const stream = createResponseStream(request);
			return {
				isStream: body['stream'] === true && target.action === 'responses',
				caching: model.countsCacheWrites ? 'implicit-counted' : 'implicit',
				streamContentType: 'text/event-stream; charset=utf-8',
				...(target.action === 'count' && {
					countResponse: (inputTokens: number) => ({ object: 'response.input_tokens', input_tokens: inputTokens }),
				}),
				...(isBackground && target.action === 'responses' && { renderQueued }),
				renderNonStreaming: (response) =>
					target.action === 'compact' ? renderCompacted(response, request) : renderWhole(response, request),
				renderEvents: stream.events,
				renderErrorEvent: stream.errorEvent,
			};
		},
	};
}

function renderWhole(response: WireResponse, request: ResponseRequest): JsonObject {
	const id = responseId(response.random);
	const output = renderItems(response, request).map(({ item }) => item);
	const { background, ...rest } = renderResponse(request, finalState(id, response, output));
	// Only a non-streaming response says who pays.
	const { id: first, object, created_at, status, ...others } = rest;
	return { id: first, object, created_at, status, background, billing: { payer: 'developer' }, ...others };
}

function renderQueued(final: JsonObject): JsonObject {
	return { ...final, status: 'queued', completed_at: null, incomplete_details: null, error: null, output: [], usage: null };
}

/** Keeps the messages of the user, and replaces the rest of the conversation with one item. */
function renderCompacted(response: WireResponse, request: ResponseRequest): JsonObject {
	const { plan, random, createdSeconds, storage, quirks } = response;
	const kept = (storage?.inputItems ?? [])
		.filter((item) => item['role'] === 'user')
		.map(({ content, ...item }) => ({ ...item, status: 'completed', content }));
	return {
		id: `resp_${hexFrom(random)}`,
		object: 'response.compaction',
		created_at: createdSeconds,
		output: [...kept.map(withParts), renderCompaction(request, random)],
		...(quirks.omitsUsage ? {} : { usage: renderResponseUsage(plan.usage, request.model) }),
	};
}

/** Writes the content of a message as parts. */
export function withParts(item: JsonObject): JsonObject {
	const { content, role } = item;
	if (typeof content !== 'string') return item;
	const part = role === 'assistant' ? { type: 'output_text', text: content, annotations: [] } : { type: 'input_text', text: content };
	return { ...item, content: [part] };
}

/** Lists input items, newest first unless the query says otherwise. */
export function listInputItems(input: readonly JsonObject[], query: URLSearchParams): JsonObject {
	const ordered = (query.get('order') === 'asc' ? [...input] : input.toReversed()).map((item) => ({
		...withParts(item),
		...(isGiven(item['status']) || item['type'] === 'reasoning' ? {} : { status: 'completed' }),
	}));
	const after = query.get('after');
	const start = after === null ? 0 : ordered.findIndex((item) => (item as JsonObject)['id'] === after) + 1;
	const limit = Math.min(100, Math.max(1, Number(query.get('limit') ?? '20') || 20));
	const data: readonly JsonObject[] = ordered.slice(start, start + limit);
	return {
		object: 'list',
		data,
		first_id: data[0]?.['id'] ?? null,
		has_more: start + limit < ordered.length,
		last_id: data.at(-1)?.['id'] ?? null,
	};
}

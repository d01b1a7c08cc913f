/** Renders the response object of the Responses API and its output items, with the vendor's field order. */
import { isGiven, type JsonObject, listOf, objectOf, textOf } from '../../json-value.ts';
import type { PlannedCall, PlannedChoice, Usage } from '../../plan/response-plan.ts';
import type { SeededRandom } from '../../seeded-random.ts';
import type { OpenAiModel } from '../openai/openai-models.ts';
import { callIdOf, renderLogprobs } from '../openai/render-chat.ts';
import type { WireResponse } from '../wire.ts';
import { echoTools, isHostedSearch } from './response-tools.ts';
import { sealContent } from './seal-content.ts';

/** Request whose response is rendered. */
export interface ResponseRequest {
	/** Outline of the request: small fields, and those that the response repeats. */
	readonly body: JsonObject;
	readonly model: OpenAiModel;
	/** See `sealContent`. */
	readonly owner: string;
	readonly isBackground: boolean;
	/** Adds the fields of the vendor's own to a response object. */
	shape(response: JsonObject): JsonObject;
}

export interface OutputItem {
	readonly item: JsonObject;
	/** Generated part of the item, if it has one. */
	readonly kind: 'thinking' | 'text' | 'refusal' | 'call' | 'search' | 'other';
	readonly call?: PlannedCall;
}

export function responseId(random: SeededRandom): string {
	return `resp_${hexFrom(random)}`;
}

export function hexFrom(random: SeededRandom): string {
	return Array.from({ length: 50 }, () => random.integer(0, 15).toString(16)).join('');
}

/** Returns the items in the order of generation: reasoning, searches, text, calls. */
export function renderItems(response: WireResponse, request: ResponseRequest): OutputItem[] {
	const { plan, random } = response;
	const [choice] = plan.choices;
	if (choice === undefined) return [];
	const items: OutputItem[] = [];
	const isCut = choice.stop === 'length';
	if (plan.thinking !== '') items.push({ kind: 'thinking', item: renderReasoning(plan.thinking, request, random) });
	for (const query of choice.searches) items.push({ kind: 'search', item: renderSearch(query, request, random) });
	if (choice.refusal !== '') {
		items.push({ kind: 'refusal', item: renderMessage([{ type: 'refusal', refusal: choice.refusal }], choice, request, random, isCut) });
	} else if (choice.text !== '' || choice.stop === 'end') {
		const isLast = choice.calls.length === 0;
		items.push({ kind: 'text', item: renderMessage([renderText(choice, request)], choice, request, random, isCut && isLast) });
	}
	for (const [index, call] of choice.calls.entries()) {
		if (call.origin?.isDeferred === true) items.push(...renderServerSearch(call, request, random));
		items.push({ kind: 'call', call, item: renderCall(call, response, isCut && index === choice.calls.length - 1) });
	}
	const { input, cacheRead, cacheWrite } = plan.usage;
	const isCompacted = input + cacheRead + cacheWrite >= compactThreshold(request.body);
	if (isCompacted) items.push({ kind: 'other', item: renderCompaction(request, random) });
	return items;
}

function compactThreshold({ context_management: edits }: JsonObject): number {
	const [threshold] = listOf(edits)
		.map(objectOf)
		.filter(({ type }) => type === 'compaction')
		.map((edit) => edit['compact_threshold']);
	return typeof threshold === 'number' ? threshold : Number.POSITIVE_INFINITY;
}

function renderReasoning(thinking: string, { body, owner }: ResponseRequest, random: SeededRandom): JsonObject {
	const isSealed = listOf(body['include']).includes('reasoning.encrypted_content') || body['store'] === false;
	return {
		id: `rs_${hexFrom(random)}`,
		type: 'reasoning',
		...(isSealed && { encrypted_content: sealContent(owner, thinking, random) }),
		summary: showsSummary(body) ? [{ type: 'summary_text', text: thinking }] : [],
	};
}

function showsSummary(body: JsonObject): boolean {
	return isGiven(objectOf(body['reasoning'])['summary']);
}

const sources = ['https://example.com/simulated-source'] as const;

function renderSearch(query: string, { body }: ResponseRequest, random: SeededRandom): JsonObject {
	const includesSources = listOf(body['include']).includes('web_search_call.action.sources');
	const listed = includesSources ? { sources: sources.map((url) => ({ type: 'url', url })) } : {};
	return { id: `ws_${hexFrom(random)}`, type: 'web_search_call', status: 'completed', action: { type: 'search', query, ...listed } };
}

function renderText(choice: PlannedChoice, { body }: ResponseRequest): JsonObject {
	const { text } = choice;
	const includesLogprobs = listOf(body['include']).includes('message.output_text.logprobs');
	const cited = { type: 'url_citation', end_index: text.length, start_index: 0, title: 'Simulated source', url: sources[0] };
	return {
		type: 'output_text',
		annotations: choice.searches.length === 0 ? [] : [cited],
		logprobs: includesLogprobs ? renderLogprobs(text)['content'] : [],
		text,
	};
}

function renderMessage(
	content: readonly JsonObject[],
	choice: PlannedChoice,
	{ model }: ResponseRequest,
	random: SeededRandom,
	isCut: boolean,
): JsonObject {
	return {
		id: `msg_${hexFrom(random)}`,
		type: 'message',
		status: isCut ? 'incomplete' : 'completed',
		content,
		...(model.hasPhases && { phase: choice.calls.length > 0 ? 'commentary' : 'final_answer' }),
		role: 'assistant',
	};
}

function renderCall(call: PlannedCall, { random, quirks }: WireResponse, isCut: boolean): JsonObject {
	const { name, input, origin } = call;
	const call_id = callIdOf(call, quirks.emptiesIds);
	const status = isCut ? 'incomplete' : 'completed';
	if (origin?.kind === 'search') {
		return {
			id: `tsc_${hexFrom(random)}`,
			type: 'tool_search_call',
			status,
			arguments: isCut || call.isFreeText ? {} : (JSON.parse(input) as unknown),
			call_id,
			execution: 'client',
		};
	}
	const namespace = origin?.namespace ?? (origin?.isDeferred === true ? name : undefined);
	const place = namespace === undefined ? {} : { namespace };
	return call.isFreeText
		? { id: `ctc_${hexFrom(random)}`, type: 'custom_tool_call', status, call_id, input, name, ...place }
		: { id: `fc_${hexFrom(random)}`, type: 'function_call', status, arguments: input, call_id, name, ...place };
}

/** Tool search that the vendor runs to load the definition of a deferred tool. */
function renderServerSearch(call: PlannedCall, { body }: ResponseRequest, random: SeededRandom): OutputItem[] {
	const path = call.origin?.namespace ?? call.name;
	const loaded = echoTools(listOf(body['tools']).filter((tool) => objectOf(tool)['name'] === path));
	const common = { call_id: null, execution: 'server' };
	return [
		{
			kind: 'other',
			item: { id: `tsc_${hexFrom(random)}`, type: 'tool_search_call', status: 'completed', arguments: { paths: [path] }, ...common },
		},
		{ kind: 'other', item: { id: `tso_${hexFrom(random)}`, type: 'tool_search_output', status: 'completed', ...common, tools: loaded } },
	];
}

export function renderCompaction({ owner }: ResponseRequest, random: SeededRandom): JsonObject {
	return { id: `cmp_${hexFrom(random)}`, type: 'compaction', encrypted_content: sealContent(owner, 'x'.repeat(2000), random) };
}

/** Part of a response object that changes while it is generated. */
export interface ResponseState {
	readonly id: string;
	readonly createdSeconds: number;
	readonly status: string;
	readonly output: readonly JsonObject[];
	readonly usage: Usage | null;
	readonly incompleteReason?: string | undefined;
	readonly error?: { readonly code: string; readonly message: string };
}

export const serverError = { code: 'server_error', message: 'An error occurred while processing your request. Please try again.' };

/** Returns the final state of a response. */
export function finalState(id: string, { plan, createdSeconds, quirks }: WireResponse, output: readonly JsonObject[]): ResponseState {
	const stop = plan.choices[0]?.stop;
	const common = { id, createdSeconds, output, usage: quirks.omitsUsage || stop === 'failed' ? null : plan.usage };
	if (stop === 'failed') return { ...common, status: 'failed', error: serverError };
	if (stop === 'length') return { ...common, status: 'incomplete', incompleteReason: 'max_output_tokens' };
	if (stop === 'filter') return { ...common, status: 'incomplete', incompleteReason: 'content_filter' };
	return { ...common, status: 'completed' };
}

export function renderResponse(request: ResponseRequest, state: ResponseState): JsonObject {
	const { body, model, isBackground } = request;
	const { format, verbosity } = objectOf(body['text']);
	const { effort, summary, context } = objectOf(body['reasoning']);
	const isOver = state.status === 'completed';
	const tier = textOf(body['service_tier']) || 'auto';
	return request.shape({
		id: state.id,
		object: 'response',
		created_at: state.createdSeconds,
		status: state.status,
		background: isBackground,
		completed_at: isOver ? state.createdSeconds + 1 : null,
		error: state.error ?? null,
		frequency_penalty: 0,
		incomplete_details: state.incompleteReason === undefined ? null : { reason: state.incompleteReason },
		instructions: body['instructions'] ?? null,
		max_output_tokens: body['max_output_tokens'] ?? null,
		max_tool_calls: body['max_tool_calls'] ?? null,
		model: model.snapshot,
		moderation: null,
		output: state.output,
		parallel_tool_calls: body['parallel_tool_calls'] ?? true,
		presence_penalty: 0,
		previous_response_id: body['previous_response_id'] ?? null,
		prompt_cache_key: body['prompt_cache_key'] ?? null,
		prompt_cache_retention: body['prompt_cache_retention'] ?? null,
		reasoning: {
			context: context ?? null,
			effort: effort ?? (model.isReasoning ? 'medium' : null),
			summary: summary === 'auto' ? 'detailed' : (summary ?? null),
		},
		safety_identifier: body['safety_identifier'] ?? null,
		service_tier: isOver && tier === 'auto' ? 'default' : tier,
		store: body['store'] ?? true,
		temperature: body['temperature'] ?? 1,
		text: { format: echoFormat(objectOf(format)), verbosity: verbosity ?? 'medium' },
		tool_choice: body['tool_choice'] ?? 'auto',
		...toolUsage(body, state.usage),
		tools: echoTools(body['tools']),
		top_logprobs: body['top_logprobs'] ?? 0,
		top_p: body['top_p'] ?? 1,
		truncation: body['truncation'] ?? 'disabled',
		usage: state.usage === null ? null : renderResponseUsage(state.usage, model),
		user: body['user'] ?? null,
		metadata: body['metadata'] ?? {},
	});
}

function echoFormat(format: JsonObject): JsonObject {
	const { type, name, schema, strict, description } = format;
	if (type !== 'json_schema') return { type: type ?? 'text' };
	return { type, description: description ?? null, name, schema, strict: strict ?? false };
}

/** Reports hosted tools, whose costs are not in `usage`. */
function toolUsage(body: JsonObject, usage: Usage | null): JsonObject {
	if (!listOf(body['tools']).some((tool) => isHostedSearch(textOf(objectOf(tool)['type'])))) return {};
	const images = { input_tokens: 0, input_tokens_details: { image_tokens: 0, text_tokens: 0 }, output_tokens: 0, total_tokens: 0 };
	return { tool_usage: { image_gen: images, web_search: { num_requests: usage?.webSearches ?? 0 } } };
}

export function renderResponseUsage(usage: Usage, model: Pick<OpenAiModel, 'countsCacheWrites'>): JsonObject {
	const input = usage.input + usage.cacheRead + usage.cacheWrite;
	return {
		input_tokens: input,
		input_tokens_details: {
			cached_tokens: usage.cacheRead,
			...(model.countsCacheWrites && { cache_write_tokens: usage.cacheWrite }),
		},
		output_tokens: usage.output,
		output_tokens_details: { reasoning_tokens: usage.reasoning },
		total_tokens: input + usage.output,
	};
}

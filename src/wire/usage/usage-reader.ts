import { noUsage, type Usage } from '../../core/usage.ts';
import { isJsonObject, type JsonObject } from '../json/parse-body.ts';
import { WantedKeys } from './key-scan.ts';
import { responsesToolCalls } from './responses-tool-calls.ts';
import type { ToolCallReader } from './tool-call-reader.ts';

/**
 * Output of a model: a text, thinking, a signature or encryption of thinking, the object of a tool's arguments, or audio and images in
 * base64. `whole` is a complete text, whose pieces a stream may have contained before.
 */
export type WrittenKind = 'text' | 'thought' | 'seal' | 'object' | 'media' | 'whole';

/** Location and format of usage in the responses of one wire dialect. */
export interface UsageReader {
	/**
	 * Names to find: first the member with the usage, then names whose values the model wrote, then others. If usage must be requested, the
	 * others are the list of choices, and members that keep an event in which that list is empty. Otherwise they are a member whose object
	 * may contain the usage at the start of the response.
	 */
	readonly wanted: WantedKeys;
	/** Kind of output at each name; undefined for the usage. Does not extend to the others. */
	readonly written: readonly (WrittenKind | undefined)[];
	/** True if clients must ask for usage in streams of this format. */
	readonly shouldRequest: boolean;
	/** True if its streams show that a model was thinking, though not always its content. */
	readonly showsThought: boolean;
	/** True if usage within the other member is final; by default, that is usage at the start. */
	readonly isNestedFinal?: boolean;
	/** Merges the usage of an event into that of earlier ones. */
	merge(earlier: JsonObject | undefined, reported: JsonObject): JsonObject;
	/** @returns undefined if no valid usage is reported. */
	usageOf(reported: unknown): Usage | undefined;
	/** Counts calls of hosted tools, for formats that report them outside of the usage. */
	readonly toolCalls?: ToolCallReader;
}

/** The last event with usage replaces earlier ones. */
const last = (_earlier: JsonObject | undefined, reported: JsonObject): JsonObject => reported;

/** An event with usage and an empty list of choices has no other content, except with one of these members. */
const otherNews = ['moderation', 'prompt_filter_results'];

export const chatUsage: UsageReader = {
	...wanting(
		'usage',
		{ text: ['content', 'refusal', 'reasoning', 'reasoning_content', 'arguments', 'input', 'transcript'], media: ['data'] },
		['choices', ...otherNews],
	),
	shouldRequest: true,
	showsThought: false,
	merge: last,
	usageOf: usageOfChat,
};

/** Completions have one kind of text; the rest is as in chat completions. */
export const completionsUsage: UsageReader = { ...chatUsage, ...wanting('usage', { text: ['text'] }, ['choices', ...otherNews]) };

export const embeddingsUsage: UsageReader = {
	...wanting('usage', {}, []),
	shouldRequest: false,
	showsThought: false,
	merge: last,
	usageOf: usageOfEmbeddings,
};

export const geminiEmbeddingsUsage: UsageReader = {
	...embeddingsUsage,
	...wanting('usageMetadata', {}, []),
	usageOf: (reported) => inputOf(members(reported).promptTokenCount, members(reported).totalTokenCount),
};

export const messagesUsage: UsageReader = {
	// `message_start` contains a message.
	...wanting('usage', { text: ['text', 'partial_json'], thought: ['thinking'], seal: ['signature', 'data'], object: ['input'] }, [
		'message',
	]),
	shouldRequest: false,
	showsThought: true,
	/** Totals of the whole message: a later count replaces an earlier one; absent and null ones keep it. */
	merge: (earlier, reported) => ({ ...earlier, ...Object.fromEntries(Object.entries(reported).filter(([, value]) => value !== null)) }),
	usageOf: usageOfMessages,
};

export const responsesUsage: UsageReader = {
	// The terminal event contains the response. Texts and arguments are repeated at their end, and some models send no pieces of arguments.
	...wanting('usage', { text: ['delta'], whole: ['text', 'refusal', 'arguments', 'input', 'code'], seal: ['encrypted_content'] }, [
		'response',
	]),
	shouldRequest: false,
	showsThought: false,
	isNestedFinal: true,
	merge: last,
	usageOf: usageOfResponses,
	toolCalls: responsesToolCalls,
};

export const geminiUsage: UsageReader = {
	...wanting('usageMetadata', { text: ['text', 'stringValue'], object: ['args'], media: ['data'] }, []),
	shouldRequest: false,
	showsThought: false,
	merge: last,
	usageOf: usageOfGemini,
};

function wanting(
	member: string,
	names: Partial<Record<WrittenKind, readonly string[]>>,
	others: readonly string[],
): Pick<UsageReader, 'wanted' | 'written'> {
	const kinds = Object.entries(names).flatMap(([kind, ofKind]) => ofKind.map((name) => [name, kind as WrittenKind] as const));
	return {
		wanted: new WantedKeys([member, ...kinds.map(([name]) => name), ...others]),
		written: [undefined, ...kinds.map(([, kind]) => kind)],
	};
}

/** Implausible counts above this are ignored: no request uses more tokens. */
const maxTokens = 1_000_000_000;

/** @returns undefined for an implausible count: negative, fractional, too large, or not a number. */
function count(value: unknown): number | undefined {
	return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= maxTokens ? (value as number) : undefined;
}

const none: JsonObject = {};

function members(value: unknown): JsonObject {
	return isJsonObject(value) ? value : none;
}

/**
 * Reads usage of chat completions. `prompt_tokens` includes cache reads and writes, `completion_tokens` includes reasoning. Some vendors
 * report reasoning in the total only: the excess over prompt and completion is output.
 * @returns undefined without valid counts of both.
 */
export function usageOfChat(reported: unknown): Usage | undefined {
	const usage = members(reported);
	const { prompt_tokens, completion_tokens, total_tokens, prompt_tokens_details, completion_tokens_details } = usage;
	const prompt = count(prompt_tokens);
	const completion = count(completion_tokens) ?? 0;
	if (prompt === undefined || (completion_tokens !== undefined && count(completion_tokens) === undefined)) return undefined;
	const outputTokens = Math.max(completion, (count(total_tokens) ?? 0) - prompt);
	const read = count(members(prompt_tokens_details).cached_tokens) ?? count(usage.prompt_cache_hit_tokens) ?? 0;
	const cacheReadTokens = Math.min(read, prompt);
	const cacheWriteTokens = Math.min(count(members(prompt_tokens_details).cache_write_tokens) ?? 0, prompt - cacheReadTokens);
	const reasoning = count(members(completion_tokens_details).reasoning_tokens) ?? 0;
	return {
		inputTokens: prompt - cacheReadTokens - cacheWriteTokens,
		cacheReadTokens,
		cacheWriteTokens,
		cacheWriteHourTokens: 0,
		outputTokens,
		reasoningTokens: Math.min(Math.max(reasoning, outputTokens - completion), outputTokens),
	};
}

/** Reads usage of embeddings, which have no output. Some vendors report only the total. */
function usageOfEmbeddings(reported: unknown): Usage | undefined {
	const { prompt_tokens, total_tokens } = members(reported);
	return inputOf(prompt_tokens, total_tokens);
}

function inputOf(prompt: unknown, total: unknown): Usage | undefined {
	const inputTokens = count(prompt) ?? count(total);
	return inputTokens === undefined ? undefined : { ...noUsage, inputTokens };
}

/**
 * Reads usage of messages. `input_tokens` excludes cache reads and writes, `output_tokens` includes thinking; cache writes are also
 * reported by lifetime, and searches of the web are charged in addition.
 * @returns undefined without a valid count of input or output.
 */
export function usageOfMessages(reported: unknown): Usage | undefined {
	const {
		input_tokens,
		output_tokens,
		cache_creation_input_tokens,
		cache_read_input_tokens,
		cache_creation,
		output_tokens_details,
		server_tool_use,
	} = members(reported);
	const inputTokens = count(input_tokens);
	const outputTokens = count(output_tokens);
	if (inputTokens === undefined || outputTokens === undefined) return undefined;
	const searches = count(members(server_tool_use).web_search_requests) ?? 0;
	const { ephemeral_5m_input_tokens, ephemeral_1h_input_tokens } = members(cache_creation);
	const writeHour = count(ephemeral_1h_input_tokens) ?? 0;
	const cacheWriteTokens = count(cache_creation_input_tokens) ?? (count(ephemeral_5m_input_tokens) ?? 0) + writeHour;
	return {
		inputTokens,
		cacheReadTokens: count(cache_read_input_tokens) ?? 0,
		cacheWriteTokens,
		cacheWriteHourTokens: Math.min(writeHour, cacheWriteTokens),
		outputTokens,
		reasoningTokens: Math.min(count(members(output_tokens_details).thinking_tokens) ?? 0, outputTokens),
		...(searches > 0 && { toolCalls: { web_search: searches } }),
	};
}

/**
 * Reads usage of the Responses API. `input_tokens` includes cache reads and writes, `output_tokens` includes reasoning.
 * @returns undefined without a valid count of input or output.
 */
export function usageOfResponses(reported: unknown): Usage | undefined {
	const { input_tokens, output_tokens, input_tokens_details, output_tokens_details } = members(reported);
	const input = count(input_tokens);
	const outputTokens = count(output_tokens);
	if (input === undefined || outputTokens === undefined) return undefined;
	const { cached_tokens, cache_write_tokens } = members(input_tokens_details);
	const cacheReadTokens = Math.min(count(cached_tokens) ?? 0, input);
	const cacheWriteTokens = Math.min(count(cache_write_tokens) ?? 0, input - cacheReadTokens);
	return {
		inputTokens: input - cacheReadTokens - cacheWriteTokens,
		cacheReadTokens,
		cacheWriteTokens,
		cacheWriteHourTokens: 0,
		outputTokens,
		reasoningTokens: Math.min(count(members(output_tokens_details).reasoning_tokens) ?? 0, outputTokens),
	};
}

/**
 * Reads usage of Gemini's own format. `promptTokenCount` includes cache reads, but not the tokens that tools add to the prompt;
 * `candidatesTokenCount`, which may be absent, excludes thinking.
 * @returns undefined without a valid count of the prompt.
 */
export function usageOfGemini(reported: unknown): Usage | undefined {
	const { promptTokenCount, toolUsePromptTokenCount, cachedContentTokenCount, candidatesTokenCount, thoughtsTokenCount, totalTokenCount } =
		members(reported);
	const ownPrompt = count(promptTokenCount);
	if (ownPrompt === undefined) return undefined;
	const prompt = ownPrompt + (count(toolUsePromptTokenCount) ?? 0);
	const cacheReadTokens = Math.min(count(cachedContentTokenCount) ?? 0, prompt);
	const reasoningTokens = count(thoughtsTokenCount) ?? 0;
	const outputTokens = Math.max((count(candidatesTokenCount) ?? 0) + reasoningTokens, (count(totalTokenCount) ?? 0) - prompt);
	return { ...noUsage, inputTokens: prompt - cacheReadTokens, cacheReadTokens, outputTokens, reasoningTokens };
}

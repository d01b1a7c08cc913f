/** Wire dialect of a vendor's API: authentication, parsing requests, rendering responses and errors. */
import type { HeaderFields } from '../../src/core/handler.ts';
import type { AccountLimits } from '../faults/rate-limits.ts';
import type { JsonObject } from '../json-value.ts';
import type { EmbeddingInput } from '../plan/embed-text.ts';
import type { Prompt } from '../plan/prompt.ts';
import type { ResponsePlan } from '../plan/response-plan.ts';
import type { SeededRandom } from '../seeded-random.ts';
import type { VendorError } from '../vendor-error.ts';

export type WireName = 'openai' | 'anthropic' | 'gemini' | 'gemini-openai' | 'azure';

export const wireNames = ['openai', 'anthropic', 'gemini', 'gemini-openai', 'azure'] as const satisfies readonly WireName[];

/** Action that a path stands for. `generate` is the dialect's main API: chat completions, messages or generateContent. */
export type WireAction =
	| 'generate'
	| 'count'
	| 'responses'
	| 'compact'
	| 'completions'
	| 'embeddings'
	/** Gemini's embeddings of several texts. */
	| 'batch-embeddings';

/** Reads the requests and renders the responses of one API of a dialect. */
export interface WireApi {
	/** Parses the prompt. @throws VendorError when the vendor would reject the request. */
	readPrompt(body: JsonObject, model: string, target: WireTarget): Prompt;
	/** @param outline of a parsed request: see `outlineOf`. */
	openRequest(outline: JsonObject, model: string, target: WireTarget): ModelRequest;
}

export interface Wire extends WireApi {
	readonly name: WireName;
	/** Returns the client's key; empty when there is none. */
	readKey(target: WireTarget): string;
	/** @throws VendorError when the key, or a value next to it such as the API version, is not accepted. */
	checkAccess(target: WireTarget, key: string, isRejected: boolean): void;
	/** Parses the texts of an embeddings request, if the dialect has them. @throws VendorError as `readPrompt`. */
	readonly embeddings?: EmbeddingsApi;
	/** Vendor's error message for a body that is not a JSON object. */
	readonly notJsonMessage: string;
	/** Renders an error; `null` is a response without a body. */
	renderError(error: VendorError, context: ErrorContext): unknown;
	/** Returns all headers except the body's type and length. */
	headers(context: HeaderContext): Record<string, string | string[]>;
	newRequestId(random: SeededRandom): string;
}

export interface WireTarget {
	readonly headers: HeaderFields;
	readonly query: URLSearchParams;
	/** Model name in the path, if the dialect puts it there. */
	readonly model: string | undefined;
	readonly action: WireAction;
	/** Requires an API version in the query. */
	readonly isVersioned?: boolean;
	/** Streaming, in dialects whose path decides it instead of the body. */
	readonly isStream: boolean;
}

export interface EmbeddingsApi {
	readEmbeddings(body: JsonObject, model: string, target: WireTarget): EmbeddingInput;
	/** Renders the response as pieces of JSON, one for each vector, because a large batch has more than 100 MB. */
	renderEmbeddings(input: EmbeddingInput, options: EmbeddingOptions): Generator<string>;
}

export interface EmbeddingOptions {
	readonly outline: JsonObject;
	readonly model: string;
	readonly target: WireTarget;
	readonly omitsUsage: boolean;
}

export interface ModelRequest {
	readonly isStream: boolean;
	readonly caching: 'marked' | 'implicit' | 'implicit-counted';
	/** Renders the response of a request that only counts tokens. */
	readonly countResponse?: (inputTokens: number) => JsonObject;
	readonly streamContentType: string;
	/** Renders the first state of a response that is generated in the background; absent for other responses. */
	readonly renderQueued?: (final: JsonObject) => JsonObject;
	renderNonStreaming(response: WireResponse): JsonObject;
	/** Content of the model's turn in a stored conversation, in the dialect that has them. */
	responseContent?(response: WireResponse): readonly JsonObject[];
	renderEvents(response: WireResponse): Generator<WireEvent>;
	/** Renders an error in the middle of a stream, with its framing. */
	renderErrorEvent(): string;
}

export interface WireResponse {
	readonly plan: ResponsePlan;
	readonly random: SeededRandom;
	readonly createdSeconds: number;
	readonly quirks: RenderQuirks;
	/** Absent in the APIs that store nothing. */
	readonly storage?: ResponseStorage;
}

export interface ResponseStorage {
	/** Input items of the whole conversation. */
	readonly inputItems: readonly JsonObject[];
	/** Stores the current state of the response object. */
	store(response: JsonObject): void;
}

export interface RenderQuirks {
	readonly omitsUsage: boolean;
	readonly repeatsStart: boolean;
	readonly omitsIndex: boolean;
	readonly emptiesIds: boolean;
	/** Number of tokens in each event; undefined for the dialect's own size. */
	readonly tokensPerEvent: number | undefined;
}

export interface WireEvent {
	/** Complete event with its framing. */
	readonly bytes: string | Buffer;
	/** Output tokens that were generated for this event. */
	readonly outputTokens: number;
	/** Web searches that the vendor ran before this event. */
	readonly webSearches?: number;
	/** Ends the response with this event, after which clients of the API disconnect at once. */
	readonly isLast?: true;
}

export interface ErrorContext {
	readonly requestId: string;
	/** Key as received, for the vendors that repeat it. */
	readonly key: string;
	readonly model: string;
}

export interface HeaderContext {
	readonly requestId: string;
	readonly status: number;
	readonly random: SeededRandom;
	readonly nowMs: number;
	/** Number of the dialect's response, from 1. */
	readonly responseNumber: number;
	readonly retryAfterEvery: number;
	readonly inputTokens: number;
	readonly model: string;
	readonly isStream: boolean;
	readonly error: VendorError | undefined;
	/** Limits by the control API; the dialect has its own by default. */
	readonly accountLimits?: AccountLimits | undefined;
}

export function bearerKey(headers: HeaderFields): string {
	const value = headers['authorization'];
	return typeof value === 'string' ? value.replace(/^Bearer\s+/i, '') : '';
}

export function headerText(headers: HeaderFields, name: string): string {
	const value = headers[name];
	return typeof value === 'string' ? value : '';
}

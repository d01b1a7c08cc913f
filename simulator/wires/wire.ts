/** What makes a vendor's API a wire: who may call, how a request is read, how an answer and an error are written. */
import type { HeaderFields } from '../../src/core/handler.ts';
import type { JsonObject } from '../json-value.ts';
import type { AnswerPlan } from '../plan/answer-plan.ts';
import type { Prompt } from '../plan/prompt.ts';
import type { SeededRandom } from '../seeded-random.ts';
import type { VendorError } from '../vendor-error.ts';

export type WireName = 'openai' | 'anthropic' | 'gemini' | 'gemini-openai' | 'azure';

export const wireNames = ['openai', 'anthropic', 'gemini', 'gemini-openai', 'azure'] as const satisfies readonly WireName[];

export interface Wire {
	readonly name: WireName;
	/** The caller's key; empty when there is none. */
	readKey(target: WireTarget): string;
	/** @throws VendorError when the key or what goes with it (API version) does not do. */
	checkAccess(target: WireTarget, key: string, isRefused: boolean): void;
	/** What the model reads. @throws VendorError when the vendor would reject the request. */
	readPrompt(body: JsonObject, model: string, target: WireTarget): Prompt;
	/** @param outline of a request that was read: see `outlineOf`. */
	openCall(outline: JsonObject, model: string, target: WireTarget): ModelCall;
	/** The vendor's words for a body that is not a JSON object. */
	readonly notJsonMessage: string;
	/** `null` is an answer without a body. */
	renderError(error: VendorError, context: ErrorContext): unknown;
	/** Every header but those of the body's type and length. */
	headers(context: HeaderContext): Record<string, string | string[]>;
	newRequestId(random: SeededRandom): string;
}

export interface WireTarget {
	readonly headers: HeaderFields;
	readonly query: URLSearchParams;
	/** Where the path names the model. */
	readonly model: string | undefined;
	readonly action: 'generate' | 'count';
	/** Where the path, not the body, says so. */
	readonly isStream: boolean;
}

export interface ModelCall {
	readonly isStream: boolean;
	readonly caching: 'marked' | 'implicit' | 'implicit-counted';
	/** Set for a request that only counts tokens: its whole answer. */
	readonly countAnswer?: (inputTokens: number) => JsonObject;
	readonly streamContentType: string;
	renderWhole(answer: Answer): JsonObject;
	/** What a conversation that is kept has as the model's turn, on the wire that keeps any. */
	replyContent?(answer: Answer): readonly JsonObject[];
	renderEvents(answer: Answer): Generator<WireEvent>;
	/** An error in the middle of a stream, whole with its framing. */
	renderErrorEvent(): string;
}

export interface Answer {
	readonly plan: AnswerPlan;
	readonly random: SeededRandom;
	readonly createdSeconds: number;
	readonly quirks: RenderQuirks;
}

export interface RenderQuirks {
	readonly omitsUsage: boolean;
	readonly repeatsStart: boolean;
	readonly omitsIndex: boolean;
	readonly emptiesIds: boolean;
	/** Instead of the wire's own measure. */
	readonly tokensPerEvent: number | undefined;
}

export interface WireEvent {
	/** Whole, with its framing. */
	readonly bytes: string | Buffer;
	/** What of the answer was generated for it. */
	readonly outputTokens: number;
}

export interface ErrorContext {
	readonly requestId: string;
	/** As received, for the vendors that echo it. */
	readonly key: string;
	readonly model: string;
}

export interface HeaderContext {
	readonly requestId: string;
	readonly status: number;
	readonly random: SeededRandom;
	readonly nowMs: number;
	/** Counts this wire's answers from 1. */
	readonly answerNumber: number;
	readonly retryAfterEvery: number;
	readonly inputTokens: number;
	readonly model: string;
	readonly isStream: boolean;
	readonly error: VendorError | undefined;
}

export function bearerKey(headers: HeaderFields): string {
	const value = headers['authorization'];
	return typeof value === 'string' ? value.replace(/^Bearer\s+/i, '') : '';
}

export function headerText(headers: HeaderFields, name: string): string {
	const value = headers[name];
	return typeof value === 'string' ? value : '';
}

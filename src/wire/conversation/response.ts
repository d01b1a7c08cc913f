/** A vendor-neutral response: readers of provider dialects emit it, writers of client dialects write it. */
import { UpstreamError } from '../../core/upstream-error.ts';
import type { Usage } from '../../core/usage.ts';
import type { StreamEvent } from '../events/stream-event.ts';
import type { JsonObject } from '../json/parse-body.ts';
import type { MeteredUsage } from '../usage/usage-meter.ts';

import type { Citation } from './citation.ts';
import type { ReasoningEncryption } from './reasoning-encryption.ts';

/** `refused`: the model itself rejected the request, in text. `filtered`: a content filter of the provider stopped the response. */
export type FinishReason = 'stop' | 'calls' | 'length' | 'filtered' | 'refused';

export interface Finish {
	readonly reason: FinishReason;
	/** Explanation of the model's `refusal` or of the filter, if the provider sends one. */
	readonly explanation?: string;
}

export interface ResponseStart {
	/** Id as the provider sent it; anything but a non-empty string counts as absent. */
	readonly id: unknown;
	readonly model: unknown;
	/** Input usage, if the provider reports it this early. */
	readonly usage?: Usage | undefined;
}

export interface StartedCall {
	/** Id as the provider sent it; often absent. */
	readonly id: unknown;
	/** Name of the tool at the provider. */
	readonly name: string;
	/** Google's signature of the thought before the call. */
	readonly signature: string | undefined;
}

/** Content that the response of another format cannot express, as warnings name it. */
export type LostContent = 'citations' | 'logprobs' | 'phase';

export interface ConversationUsage {
	/** Undefined if the provider reported no valid usage. */
	readonly usage: Usage | undefined;
	readonly reportsCacheWrites: boolean;
	readonly reportsReasoning: boolean;
}

/** An error of the provider, in a response or inside a stream. */
export interface ProviderError {
	/** Error type in the vocabulary of the messages format, which chat completions share. */
	readonly type: string;
	readonly message: string;
	/** Error code in the vocabulary of chat completions; undefined if there is none more exact than the type. */
	readonly code?: string | undefined;
	/** True if the conversation exceeds the model's context window. */
	readonly isTooLong: boolean;
	/** Delay from the body, if the provider sends no header field for it. */
	readonly retryAfterSeconds?: number | undefined;
}

/**
 * Receives a response in order: `start`, content, `finish` for each choice, `end`; or `fail` at any time, and then nothing more. Tool calls
 * of one choice are sequential: all fragments of one arrive before the next begins. Joined, they are a JSON object.
 */
export interface ResponseSink {
	/** False to skip unsigned reasoning. */
	readonly wantsReasoning: boolean;
	/** False to take the first choice only. */
	readonly takesChoices: boolean;
	start(start: ResponseStart): void;
	/** Begins a choice before its first content is known. Otherwise content begins it. */
	startChoice(choice: number): void;
	/** @param logprobs log probabilities of the text's tokens, in the form that OpenAI's formats share. */
	addText(text: string, choice: number, logprobs?: readonly JsonObject[]): void;
	/** Adds a source of the latest text. */
	addCitation(citation: Citation, choice: number): void;
	addModelRefusal(text: string, choice: number): void;
	addReasoning(text: string, choice: number): void;
	/**
	 * Adds a block of reasoning that its vendor signed or encrypted, complete and unchanged. Its text was added before.
	 * @param block of `type` `thinking` or `redacted_thinking` from Anthropic, `encrypted_reasoning` from OpenAI.
	 */
	addSignedReasoning(block: JsonObject, choice: number): void;
	startCall(call: StartedCall, choice: number): void;
	addArguments(fragment: string, choice: number): void;
	/** Adds Google's signature of the latest content other than a call. */
	addSignature(signature: string, choice: number): void;
	/** Sets the service tier that served the request, in the words of OpenAI. Called before `finish`. */
	setServiceTier(tier: string): void;
	/** Reports content that is left out. Only a non-streaming response can name it. */
	lose(content: LostContent): void;
	finish(finish: Finish, choice: number): void;
	end(usage: ConversationUsage): void;
	fail(error: ProviderError): void;
}

/** Facts about the request that its response needs. */
export interface ResponseContext {
	/** The client's request. */
	readonly request: JsonObject;
	/** Model name that the client used. */
	readonly model: string;
	readonly requestId: string;
	/** Unix seconds of the request's arrival. */
	readonly nowSeconds: number;
	/** Estimated input tokens, for streams that must begin with a count. */
	readonly estimatedInputTokens?: number;
	/** Encrypts signed reasoning for a client whose format has one opaque text for it. Without it, the reasoning is not returned. */
	readonly encryption?: ReasoningEncryption;
	/** True for the error of a provider whose credit is exhausted, which no retry helps. */
	readonly isSpendStop?: boolean;
	/** Receives a sentence for content that a non-streaming response leaves out. */
	readonly warn?: (warning: string) => void;
	/** Usage charged so far: reported by the provider, or estimated by the gateway. */
	readonly charged?: () => MeteredUsage | undefined;
}

/** Returns the usage for the client at the end of a response, which is the charged usage if there is any. */
export function clientMessage(reported: Usage | undefined, { charged }: ResponseContext): Usage | undefined {
	return charged?.()?.usage ?? reported;
}

/** Returns the warning for content that a response leaves out. */
export function lossWarning(content: LostContent): string {
	return `${content}: dropped from the response`;
}

export interface StreamReader {
	/** @param event with data. @throws `UpstreamError` `provider_response_invalid`. */
	read(event: StreamEvent): void;
	/** Handles the end of a stream that emitted neither `end` nor `fail`. @throws `UpstreamError` `provider_*`. */
	end(): void;
}

export interface WrittenStream {
	/** Takes the events written since the last call, each with its final empty line. */
	take(): readonly string[];
	/** True once the terminal event is written. */
	readonly isTerminated: boolean;
	/** True once an error event is written. */
	readonly hasFailed: boolean;
}

export interface BodyWriter extends ResponseSink {
	/** To be called after `end`. */
	body(): JsonObject;
}

/** Reads the responses of a provider dialect. */
export interface ResponseReading {
	createStreamReader(sink: ResponseSink): StreamReader;
	/** Reads a non-streaming response of status 200. @throws `UpstreamError` `provider_response_invalid`. */
	readBody(body: JsonObject, sink: ResponseSink): void;
	/** @param status as the provider sent it. @param body undefined if it is not JSON. */
	readError(status: number, body: JsonObject | undefined): ProviderError;
	/** Returns warnings for finish reasons of a non-streaming response that other dialects cannot express. */
	finishWarnings?(body: JsonObject): readonly string[];
	/** Converts a tool's name into one that the dialect accepts; unchanged for most names. */
	fitToolName(name: string): string;
}

/** Writes the responses of a client dialect. */
export interface ResponseWriting {
	createStreamWriter(call: ResponseContext, toolNameOf: ToolNaming): ResponseSink & WrittenStream;
	createBodyWriter(call: ResponseContext, toolNameOf: ToolNaming): BodyWriter;
	writeError(error: ProviderError, call: ResponseContext): JsonObject;
	/** Returns the names of the tools that a request offers. */
	toolNames(request: JsonObject): readonly string[];
	/** Name of the member with the finish reason. */
	readonly finishField: string;
}

/** Maps a tool's name at the provider to the client's name. */
export type ToolNaming = (name: string) => string;

export function responseInvalid(what: string): UpstreamError {
	return new UpstreamError('provider_response_invalid', { message: `The provider returned a response ${what}: retry` });
}

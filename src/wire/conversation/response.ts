/** A model's response in no vendor's format: readers of provider dialects tell it, writers of client dialects write it. */
import { Fault } from '../../core/fault.ts';
import type { Usage } from '../../core/usage.ts';
import type { StreamEvent } from '../events/stream-event.ts';
import type { JsonObject } from '../json/parse-body.ts';
import type { MeteredUsage } from '../usage/usage-meter.ts';

/** `refused`: the model declined in words of its own. `filtered`: a filter of the provider's stopped it. */
export type FinishReason = 'stop' | 'calls' | 'length' | 'filtered' | 'refused';

export interface Finish {
	readonly reason: FinishReason;
	/** Of a refusal or filter, where the provider gives one. */
	readonly explanation?: string;
}

export interface ResponseStart {
	/** As the provider sent it; anything else than a non-empty string is none. */
	readonly id: unknown;
	readonly model: unknown;
	/** Of the input, where the provider reports it this early. */
	readonly usage?: Usage | undefined;
}

export interface StartedCall {
	/** As the provider sent it; often absent. */
	readonly id: unknown;
	/** As the provider knows the tool. */
	readonly name: string;
	/** Google's, of the thought before the call. */
	readonly signature: string | undefined;
}

export interface ReportedUsage {
	/** Undefined: the provider reported nothing sound. */
	readonly usage: Usage | undefined;
	readonly reportsCacheWrites: boolean;
	readonly reportsReasoning: boolean;
}

/** An error of the provider's, in a response of its own or inside a stream. */
export interface ProviderError {
	/** In the vocabulary of the messages format, which chat completions share. */
	readonly type: string;
	readonly message: string;
	/** In chat completions' vocabulary; undefined: nothing more exact than the type. */
	readonly code?: string | undefined;
	/** The conversation exceeds what the model can read. */
	readonly isTooLong: boolean;
	/** Reported in the body alone, where the provider has no header field for it. */
	readonly retryAfterSeconds?: number | undefined;
}

/**
 * Receives a response in its order: `start`, content, `finish` for each choice, `end`; or `fail` at any time, and then nothing more. Tool
 * calls of one choice are sequential: all fragments of one before the next begins, and together they are a JSON object.
 */
export interface ResponseSink {
	/** False: reasoning that carries no signature is not passed on. */
	readonly wantsReasoning: boolean;
	/** False: only the first choice is. */
	readonly takesChoices: boolean;
	start(start: ResponseStart): void;
	/** Begins a choice before its first content is known. Otherwise content begins it. */
	startChoice(choice: number): void;
	addText(text: string, choice: number): void;
	addRefusal(text: string, choice: number): void;
	addReasoning(text: string, choice: number): void;
	/** A block of reasoning that its vendor signed or encrypted, whole and as it came. Its text was added before. */
	addSignedReasoning(block: JsonObject, choice: number): void;
	startCall(call: StartedCall, choice: number): void;
	addArguments(fragment: string, choice: number): void;
	/** Google's, of what was said last, where that was no call. */
	addSignature(signature: string, choice: number): void;
	finish(finish: Finish, choice: number): void;
	end(usage: ReportedUsage): void;
	fail(error: ProviderError): void;
}

/** What answers need to know of their request. */
export interface TranslatedCall {
	/** The caller's request. */
	readonly request: JsonObject;
	/** Model name that the caller used. */
	readonly model: string;
	readonly requestId: string;
	/** Unix seconds of the request's arrival. */
	readonly nowSeconds: number;
	/** About what the provider will count of the request, for streams that must begin with it. */
	readonly estimatedInputTokens?: number;
	/** What the answer is charged as, as far as it has come: what its provider told, or what the gateway counted instead. */
	readonly charged?: () => MeteredUsage | undefined;
}

/** What callers are told of usage at the end: what they are charged. @param told by the provider. */
export function toldToCaller(told: Usage | undefined, { charged }: TranslatedCall): Usage | undefined {
	return charged?.()?.usage ?? told;
}

export interface StreamReader {
	/** @param event with data. @throws Fault `provider_response_invalid`. */
	read(event: StreamEvent): void;
	/** The stream has ended in order, and neither `end` nor `fail` was told. @throws Fault `provider_*`. */
	end(): void;
}

export interface WrittenStream {
	/** Takes the events that were written since the last time, each with the empty line that ends it. */
	take(): readonly string[];
	/** True once the terminal event is written. */
	readonly isTerminated: boolean;
	/** True once an error event is written. */
	readonly hasFailed: boolean;
}

export interface BodyWriter extends ResponseSink {
	/** Meant for after `end`. */
	body(): JsonObject;
}

/** How a provider dialect is read. */
export interface ResponseReading {
	createStreamReader(sink: ResponseSink): StreamReader;
	/** A non-streaming response of status 200. @throws Fault `provider_response_invalid`. */
	readBody(body: JsonObject, sink: ResponseSink): void;
	/** @param status as the provider sent it. @param body undefined when it is not JSON. */
	readError(status: number, body: JsonObject | undefined): ProviderError;
	/** Ends of a non-streaming response that other dialects cannot say. */
	finishWarnings?(body: JsonObject): readonly string[];
	/** A tool's name as the dialect takes it; the same one for most. */
	fitToolName(name: string): string;
}

/** How a client dialect is written. */
export interface ResponseWriting {
	createStreamWriter(call: TranslatedCall, toolNameOf: ToolNaming): ResponseSink & WrittenStream;
	createBodyWriter(call: TranslatedCall, toolNameOf: ToolNaming): BodyWriter;
	writeError(error: ProviderError, call: TranslatedCall): JsonObject;
	/** Names of the tools that a request offers. */
	toolNames(request: JsonObject): readonly string[];
	/** The member that says why a response ended. */
	readonly finishField: string;
}

/** A tool's name as the client knows it, from the provider's. */
export type ToolNaming = (name: string) => string;

export function responseInvalid(what: string): Fault {
	return new Fault('provider_response_invalid', { message: `The provider returned a response ${what}: retry` });
}

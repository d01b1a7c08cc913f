import type { Usage } from '../../core/usage.ts';
import type { EventBatch } from '../events/event-batch.ts';
import type { JsonObject } from '../json/parse-body.ts';
import type { MeteredUsage } from '../usage/usage-meter.ts';

/** How the responses of a provider of one dialect are written for a client of another. Pure. */
export interface ResponseTranslation {
	/** A whole answer of status 200. @throws Fault `provider_answer_invalid` for what is no answer of the provider's format. */
	translateAnswer(body: JsonObject, call: TranslatedCall): JsonObject;
	/** What a whole answer says that the caller's format cannot, in the form of a request's warnings. */
	answerWarnings?(body: JsonObject): readonly string[];
	/**
	 * The body of an error response, as the client's own vendor would word it. The gateway sets its status, by one rule for all formats.
	 * @param status as the provider sent it. @param body undefined when it is not JSON.
	 */
	translateError(status: number, body: JsonObject | undefined, call: TranslatedCall): TranslatedError;
	translateStream(call: TranslatedCall): StreamTranslation;
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

export interface TranslatedError {
	readonly body: JsonObject;
	/** Told in the body alone, where the provider has no header field for it. */
	readonly retryAfterSeconds?: number;
}

/** One stream: events of the provider's dialect in, events of the client's out. */
export interface StreamTranslation {
	/** @throws Fault `provider_answer_invalid` for an event that cannot be understood. */
	push(events: EventBatch): EventBatch;
	/** The provider's stream has ended in order: what is still owed to the client. */
	end(): EventBatch;
	/** True once the caller's terminal event is out. */
	readonly isTerminated: boolean;
	/** True once an error event of the provider's was passed on. */
	readonly hasFailed: boolean;
}

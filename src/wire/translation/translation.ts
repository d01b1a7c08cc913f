import type { FormatName } from '../../core/format-name.ts';
import type { JsonObject } from '../json/parse-body.ts';
import type { WireName } from '../wire-name.ts';
import type { ModelFacts } from './model-facts.ts';

/** How a caller of one format is served by a provider of another. Pure; one for each pair of formats. */
export interface Translation {
	/** What the caller speaks. */
	readonly caller: FormatName;
	/** What the provider speaks. */
	readonly provider: WireName;
	/**
	 * The request as the provider takes it.
	 * @throws Refusal `field_invalid` with the JSON path in `param`, for what has no equivalent and must not be guessed.
	 */
	translateRequest(members: JsonObject, target: TranslationTarget): TranslatedRequest;
	/** A whole answer of status 200. @throws Fault `provider_answer_invalid` for what is no answer of the provider's format. */
	translateAnswer(body: JsonObject, call: TranslatedCall): JsonObject;
	/** An error answer as the caller's own vendor would word it. @param body undefined when it is no JSON. */
	translateError(status: number, body: JsonObject | undefined, call: TranslatedCall): TranslatedError;
	translateStream(call: TranslatedCall): StreamTranslation;
}

/** A model, with what operators say of it. */
export interface TranslationTarget extends ModelFacts {
	/** The model's name at the provider. */
	readonly model: string;
	/** The most that the model can write, whoever says so; undefined when nothing is known. */
	readonly maxOutputTokens: number | undefined;
}

export interface TranslatedRequest {
	readonly body: JsonObject;
	/** Fields that the request is sent with, in place of the caller's. */
	readonly headers?: Readonly<Record<string, string>>;
	/** What was dropped or changed, a sentence each, such as `logit_bias: ignored`. */
	readonly warnings: readonly string[];
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
}

export interface TranslatedError {
	readonly status: number;
	readonly body: JsonObject;
	/** Told in the body alone, where the provider has no header field for it. */
	readonly retryAfterSeconds?: number;
	/** The gateway's own key is at fault, whatever the status says. */
	readonly isKeyRejected?: boolean;
}

/** One stream. Bytes in are whole events of the provider's format, bytes out whole events of the caller's. */
export interface StreamTranslation {
	/** @throws Fault `provider_answer_invalid` for an event that cannot be understood. */
	push(events: Buffer): Buffer;
	/** The provider's stream has ended in order: what is still owed to the caller. */
	end(): Buffer;
	/** True once the caller's terminal event is out. */
	readonly isTerminated: boolean;
	/** True once an error event of the provider's was passed on. */
	readonly hasFailed: boolean;
}

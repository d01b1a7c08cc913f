import { errorTypeOf } from '../../gateway-error.ts';
import type { JsonObject } from '../../json/parse-body.ts';
import { type ToldError, toldError } from '../gemini/told-error.ts';
import type { TranslatedCall, TranslatedError } from '../translation.ts';

export function translateError(status: number, body: JsonObject | undefined, call: TranslatedCall): TranslatedError {
	const told = toldError(status, body);
	const { retryAfterSeconds } = told;
	return {
		body: render(told, call),
		...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
	};
}

/** A whole error body, or event. @param status 200 for an error inside a stream. */
export function messageError(status: number, body: JsonObject, call: TranslatedCall): JsonObject {
	return render(toldError(status, body), call);
}

/** Clients of the messages format shorten their conversation when they read certain words of its vendor's. */
function render({ status, message, isTooLong, word }: ToldError, { requestId }: TranslatedCall): JsonObject {
	const type = word === 'UNAVAILABLE' ? 'overloaded_error' : errorTypeOf(status);
	return { type: 'error', error: { type, message: isTooLong ? `prompt is too long: ${message}` : message }, request_id: requestId };
}

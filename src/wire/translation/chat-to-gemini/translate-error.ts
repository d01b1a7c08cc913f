import { errorTypeOf } from '../../gateway-error.ts';
import type { JsonObject } from '../../json/parse-body.ts';
import { type ToldError, toldError } from '../gemini/told-error.ts';
import type { TranslatedCall, TranslatedError } from '../translation.ts';

export function translateError(status: number, body: JsonObject | undefined, { requestId }: TranslatedCall): TranslatedError {
	const told = toldError(status, body);
	const { retryAfterSeconds } = told;
	return {
		body: { error: render(told), request_id: requestId },
		...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
	};
}

/** `error` as chat completions have it. @param status 200 for an error inside a stream. */
export function chatError(status: number, body: JsonObject): JsonObject {
	return render(toldError(status, body));
}

function render({ status, message, word, isKeyRejected, isTooLong }: ToldError): JsonObject {
	const code = isTooLong ? 'context_length_exceeded' : word.toLowerCase();
	const type = word === 'UNAVAILABLE' ? 'overloaded_error' : errorTypeOf(status);
	return { message, type, param: null, code: isKeyRejected ? 'provider_key_rejected' : code || errorTypeOf(status) };
}

import { errorTypeOf } from '../../gateway-error.ts';
import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';
import type { TranslatedCall, TranslatedError } from '../translation.ts';

export function translateError(status: number, body: JsonObject | undefined, call: TranslatedCall): TranslatedError {
	const error = chatError(isJsonObject(body?.error) ? body.error : {}, status);
	// The gateway's own key is wrong, not the client's token.
	const isKeyRejected = status === 401 || status === 403;
	return {
		body: {
			error: isKeyRejected ? { ...error, type: 'api_error', code: 'provider_key_rejected' } : error,
			request_id: call.requestId,
		},
	};
}

/** @param told `error` of the provider's body, or of its event; {} when it said nothing. @param status as the provider sent it. */
export function chatError(told: JsonObject, status: number): JsonObject {
	const type = typeof told.type === 'string' ? told.type : errorTypeOf(status);
	const message = typeof told.message === 'string' && told.message !== '' ? told.message : `The provider answered with status ${status}`;
	return { message, type, param: null, code: codeOf(told, message) ?? type };
}

function codeOf({ type, details }: JsonObject, message: string): string | undefined {
	if (isJsonObject(details) && typeof details.error_code === 'string') return details.error_code;
	return type === 'invalid_request_error' && /prompt is too long/i.test(message) ? 'context_length_exceeded' : undefined;
}

import { errorTypeOf } from '../../gateway-error.ts';
import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';
import { toldMessageOf } from '../told-message.ts';
import type { TranslatedCall, TranslatedError } from '../translation.ts';

export function translateError(status: number, body: JsonObject | undefined, call: TranslatedCall): TranslatedError {
	const error = chatError(body, status);
	// The gateway's own key is wrong, not the client's token.
	const isKeyRejected = status === 401 || status === 403;
	return {
		body: {
			error: isKeyRejected ? { ...error, type: 'api_error', code: 'provider_key_rejected' } : error,
			request_id: call.requestId,
		},
	};
}

/** @param body of the provider's error, or its event. @param status as the provider sent it. */
export function chatError(body: JsonObject | undefined, status: number): JsonObject {
	const told = isJsonObject(body?.error) ? body.error : {};
	const type = typeof told.type === 'string' ? told.type : errorTypeOf(status);
	const message = toldMessageOf(body) || `The provider answered with status ${status}`;
	return { message, type, param: null, code: codeOf(told, message) ?? type };
}

function codeOf({ type, details }: JsonObject, message: string): string | undefined {
	if (isJsonObject(details) && typeof details.error_code === 'string') return details.error_code;
	return type === 'invalid_request_error' && /prompt is too long/i.test(message) ? 'context_length_exceeded' : undefined;
}

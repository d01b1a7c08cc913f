import { errorMessageOf } from '../../conversation/read-json.ts';
import type { ProviderError, ResponseContext } from '../../conversation/response.ts';
import { errorTypeOf } from '../../gateway-error.ts';
import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';

/** @param status as the provider sent it. @param body undefined if it is not JSON. */
export function readError(status: number, body: JsonObject | undefined): ProviderError {
	const error = errorOf(body, status);
	// The gateway's own key is wrong, not the client's token.
	const isKeyRejected = status === 401 || status === 403;
	return isKeyRejected ? { ...error, type: 'api_error', code: 'provider_key_rejected' } : error;
}

/** Reads an error that the provider reported inside a stream. */
export function readEventError(event: JsonObject): ProviderError {
	return errorOf(event, 500);
}

function errorOf(body: JsonObject | undefined, status: number): ProviderError {
	const { type: word, details } = isJsonObject(body?.error) ? body.error : {};
	const message = errorMessageOf(body) || `The provider returned status ${status}`;
	const isTooLong = word === 'invalid_request_error' && /prompt is too long/i.test(message);
	const code = isJsonObject(details) && typeof details.error_code === 'string' ? details.error_code : undefined;
	return {
		type: typeof word === 'string' ? word : errorTypeOf(status),
		message,
		code: code ?? (isTooLong ? 'context_length_exceeded' : undefined),
		isTooLong,
	};
}

/** Clients shorten their conversation when they find certain words of the vendor. */
export function writeError({ type, message, isTooLong }: ProviderError, { requestId }: ResponseContext): JsonObject {
	return { type: 'error', error: { type, message: isTooLong ? `prompt is too long: ${message}` : message }, request_id: requestId };
}

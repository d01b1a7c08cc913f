import { errorMessageOf, errorObjectOf, numberOf } from '../../conversation/read-json.ts';
import type { ProviderError, ResponseContext } from '../../conversation/response.ts';
import { errorTypeOf } from '../../gateway-error.ts';
import type { JsonObject } from '../../json/parse-body.ts';

/** Types that differ from the status's own. Those of 401, 403 and 404 would blame the client for the gateway's settings. */
const types: Readonly<Record<number, string>> = {
	401: 'api_error',
	402: 'billing_error',
	403: 'api_error',
	404: 'api_error',
	409: 'conflict_error',
};

/** @param status as the provider sent it. @param body undefined if it is not JSON. */
export function readError(status: number, body: JsonObject | undefined): ProviderError {
	return {
		type: types[status] ?? errorTypeOf(status),
		message: errorMessageOf(body) || `The provider returned ${status} without a message`,
		isTooLong: errorObjectOf(body).code === 'context_length_exceeded',
	};
}

/** Reads an error that the provider reported inside a stream. */
export function readChunkError(chunk: JsonObject): ProviderError {
	return { type: typeOf(chunk), message: errorMessageOf(chunk) || 'The provider reported an error without a message', isTooLong: false };
}

function typeOf(chunk: JsonObject): string {
	const { type, code, status } = errorObjectOf(chunk);
	const words = [type, code].filter((word) => typeof word === 'string').join(' ');
	if (/rate_?limit|insufficient_quota/i.test(words)) return 'rate_limit_error';
	if (/overloaded/i.test(words)) return 'overloaded_error';
	const number = numberOf(code ?? status);
	if (number === 429 || number === 503 || number === 504 || number === 529) return errorTypeOf(number);
	return number === 400 || words.includes('invalid_request_error') ? 'invalid_request_error' : 'api_error';
}

export function writeError(error: ProviderError, { requestId }: ResponseContext): JsonObject {
	const { type, message, code } = error;
	return { error: { message, type, param: null, code: code ?? type }, request_id: requestId };
}

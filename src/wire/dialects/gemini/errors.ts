import { errorMessageOf, numberOf } from '../../conversation/read-json.ts';
import type { ProviderError } from '../../conversation/response.ts';
import { errorTypeOf } from '../../gateway-error.ts';
import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';

/** @param status of the response, or 200 for an error inside a stream. @param body `{"error": ...}`; undefined if it is not JSON. */
export function readError(status: number, body: JsonObject | undefined): ProviderError {
	const error = isJsonObject(body?.error) ? body.error : {};
	const details = Array.isArray(error.details) ? error.details.filter(isJsonObject) : [];
	const given = status === 200 ? numberOf(error.code) || 500 : status;
	const isKeyRejected = given === 401 || given === 403 || details.some(({ reason }) => reason === 'API_KEY_INVALID');
	const message = errorMessageOf(body) || `The provider returned ${given} without a message`;
	const isTooLong = given === 400 && /exceeds the maximum number of tokens|input token count/i.test(message);
	/** Google's own status, such as `RESOURCE_EXHAUSTED`. */
	const word = !isKeyRejected && typeof error.status === 'string' ? error.status : '';
	// Anything but the client's own mistake is the gateway's or the provider's.
	const type = errorTypeOf(isKeyRejected || given < 400 || given >= 500 || given === 404 ? 502 : given);
	return {
		type: word === 'UNAVAILABLE' ? 'overloaded_error' : type,
		message,
		code: codeOf(isKeyRejected, isTooLong, word) ?? type,
		isTooLong,
		retryAfterSeconds: retrySeconds(details),
	};
}

function codeOf(isKeyRejected: boolean, isTooLong: boolean, word: string): string | undefined {
	if (isKeyRejected) return 'provider_key_rejected';
	if (isTooLong) return 'context_length_exceeded';
	return word === '' ? undefined : word.toLowerCase();
}

/** Reads `google.rpc.RetryInfo`, whose delay has the form `34.4s`. */
function retrySeconds(details: readonly JsonObject[]): number | undefined {
	const delay = details.find(({ retryDelay }) => typeof retryDelay === 'string')?.retryDelay;
	const seconds = typeof delay === 'string' ? Number(/^(\d+(?:\.\d+)?)s$/.exec(delay)?.[1]) : Number.NaN;
	return Number.isNaN(seconds) ? undefined : Math.ceil(seconds);
}

import { errorMessageOf, errorObjectOf, numberOf } from '../../conversation/read-json.ts';
import type { ProviderError, ResponseContext } from '../../conversation/response.ts';
import { errorTypeOf } from '../../gateway-error.ts';
import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';

const tooLong = 'context_length_exceeded';

/** @param status as the provider sent it, or 200 for a failed response. @param body undefined if it is not JSON. */
export function readError(status: number, body: JsonObject | undefined): ProviderError {
	if (status < 400) return failureIn(body, `The provider returned ${status} with an error without a message`);
	const { code } = errorObjectOf(body);
	// The gateway's own key is wrong, not the client's token.
	const isKeyRejected = status === 401 || status === 403;
	return {
		type: isKeyRejected || status === 404 ? 'api_error' : errorTypeOf(status),
		message: errorMessageOf(body) || `The provider returned ${status} without a message`,
		code: isKeyRejected ? 'provider_key_rejected' : wordOf(code),
		isTooLong: code === tooLong,
	};
}

/** Reads `error`, whose members may be nested or flat, and `response.failed`. */
export function readEventError(event: JsonObject): ProviderError {
	return failureIn(isJsonObject(event.response) ? event.response : event, 'The provider reported an error without a message');
}

function failureIn(body: JsonObject | undefined, fallback: string): ProviderError {
	const { type, code } = errorObjectOf(body);
	return {
		type: typeOf(`${wordOf(type) ?? ''} ${wordOf(code) ?? ''}`, numberOf(code)),
		message: errorMessageOf(body) || fallback,
		code: wordOf(code),
		isTooLong: code === tooLong,
	};
}

/** An exhausted quota is the gateway's own, so clients do not see it as their rate limit. */
function typeOf(words: string, status: number): string {
	if (words.includes('rate_limit')) return 'rate_limit_error';
	if (/overloaded|slow_down/.test(words)) return 'overloaded_error';
	if (/invalid_|unsupported_|context_length|image|_policy/.test(words)) return 'invalid_request_error';
	return status >= 400 && status < 600 && status !== 401 && status !== 403 && status !== 404 ? errorTypeOf(status) : 'api_error';
}

function wordOf(code: unknown): string | undefined {
	return typeof code === 'string' && code !== '' ? code : undefined;
}

export function writeError(error: ProviderError, { requestId, isSpendStop = false }: ResponseContext): JsonObject {
	const { type, message } = error;
	return { error: { message, type, param: null, code: codeOf(error, isSpendStop) }, request_id: requestId };
}

/** Clients retry a 429 with any code except `insufficient_quota`, so the codes of other vendors are not enough. */
function codeOf({ type, code, isTooLong }: ProviderError, isSpendStop: boolean): string {
	if (isTooLong) return tooLong;
	if (isSpendStop) return 'insufficient_quota';
	return type === 'rate_limit_error' ? 'rate_limit_exceeded' : (code ?? type);
}

/** Codes of failed responses by error type. */
const failureCodes: Readonly<Record<string, string>> = {
	rate_limit_error: 'rate_limit_exceeded',
	invalid_request_error: 'invalid_prompt',
};

/** Returns `error` of a failed response. Some clients decide by the code whether to retry. */
export function failureOf({ type, message, code, isTooLong }: ProviderError): { readonly code: string; readonly message: string } {
	const exact = isTooLong ? tooLong : code === 'insufficient_quota' ? code : undefined;
	return { code: exact ?? failureCodes[type] ?? 'server_error', message };
}

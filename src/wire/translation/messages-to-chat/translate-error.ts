import { errorTypeOf } from '../../gateway-error.ts';
import type { JsonObject } from '../../json/parse-body.ts';
import { numberOf } from '../read-json.ts';
import { toldErrorOf, toldMessageOf } from '../told-message.ts';
import type { TranslatedCall, TranslatedError } from '../translation.ts';

/** Types that differ from the status's own. Those of 401, 403 and 404 would blame the client for what the gateway is set to. */
const types: Readonly<Record<number, string>> = {
	401: 'api_error',
	402: 'billing_error',
	403: 'api_error',
	404: 'api_error',
	409: 'conflict_error',
};

export function translateError(status: number, body: JsonObject | undefined, call: TranslatedCall): TranslatedError {
	const message = toldMessageOf(body) || `The provider answered ${status} without a message`;
	return { body: renderError(types[status] ?? errorTypeOf(status), withKnownWords(body, message), call) };
}

/** An error that the provider told in the middle of a stream. */
export function translateStreamError(chunk: JsonObject, call: TranslatedCall): JsonObject {
	return renderError(typeOf(chunk), toldMessageOf(chunk) || 'The provider told of an error without a message', call);
}

function renderError(type: string, message: string, { requestId }: TranslatedCall): JsonObject {
	return { type: 'error', error: { type, message }, request_id: requestId };
}

/** Clients of the messages format shorten their conversation when they read these words of its vendor's. */
function withKnownWords(body: JsonObject | undefined, message: string): string {
	return toldErrorOf(body).code === 'context_length_exceeded' ? `prompt is too long: ${message}` : message;
}

function typeOf(chunk: JsonObject): string {
	const { type, code, status } = toldErrorOf(chunk);
	const words = [type, code].filter((word) => typeof word === 'string').join(' ');
	if (/rate_?limit|insufficient_quota/i.test(words)) return 'rate_limit_error';
	if (/overloaded/i.test(words)) return 'overloaded_error';
	const told = numberOf(code ?? status);
	if (told === 429 || told === 503 || told === 504 || told === 529) return errorTypeOf(told);
	return told === 400 || words.includes('invalid_request_error') ? 'invalid_request_error' : 'api_error';
}

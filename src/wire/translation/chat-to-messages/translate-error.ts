import { faults } from '../../../core/fault.ts';
import { errorTypeOf } from '../../gateway-error.ts';
import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';
import type { TranslatedCall, TranslatedError } from '../translation.ts';

/** Status as the caller gets it (contract of errors): what is not the caller's own mistake is a 502. */
export function translateError(status: number, body: JsonObject | undefined, call: TranslatedCall): TranslatedError {
	const isKeyRejected = status === 401 || status === 403;
	const error = isKeyRejected ? keyRejected : chatError(isJsonObject(body?.error) ? body.error : {}, status);
	return { status: statusOf(status), body: { error, request_id: call.requestId } };
}

/** The gateway's own key is at fault, of which a caller learns no more. */
const keyRejected: JsonObject = {
	message: `${faults.provider_key_rejected.title}. ${faults.provider_key_rejected.remedy}`,
	type: 'api_error',
	param: null,
	code: 'provider_key_rejected',
};

function statusOf(status: number): number {
	// Chat completions know no 529, but this is what it says.
	if (status === 529) return 503;
	return status < 400 || status >= 500 || status === 401 || status === 403 || status === 404 ? 502 : status;
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

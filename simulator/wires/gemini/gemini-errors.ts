import type { JsonObject } from '../../json-value.ts';
import type { VendorError } from '../../vendor-error.ts';

const apiInfo = 'type.googleapis.com/google.rpc.ErrorInfo';

/** Renders Google's error envelope: a numeric code, a message, a status word, details. An invalid key is a 400. */
export function renderGoogleError(error: VendorError, model: string): JsonObject {
	const details = detailsOf(error);
	return {
		error: {
			code: error.status,
			message: messageOf(error, model),
			status: statusWordOf(error.status),
			...(details.length === 0 ? {} : { details }),
		},
	};
}

function statusWordOf(code: number): string {
	const words: Readonly<Record<number, string>> = {
		400: 'INVALID_ARGUMENT',
		401: 'UNAUTHENTICATED',
		403: 'PERMISSION_DENIED',
		404: 'NOT_FOUND',
		405: 'UNIMPLEMENTED',
		413: 'INVALID_ARGUMENT',
		429: 'RESOURCE_EXHAUSTED',
		500: 'INTERNAL',
		503: 'UNAVAILABLE',
		504: 'DEADLINE_EXCEEDED',
	};
	return words[code] ?? (code >= 500 ? 'INTERNAL' : 'INVALID_ARGUMENT');
}

function messageOf(error: VendorError, model: string): string {
	switch (error.kind) {
		case 'key-missing':
			return 'Method doesn’t allow unregistered callers (callers without established identity). Please use API Key or other form of API consumer identity to call this API.';
		case 'key-invalid':
			return 'API key not valid. Please pass a valid API key.';
		case 'forbidden':
			return 'The caller does not have permission';
		case 'model-unknown':
			return `models/${model} is not found for API version v1beta, or is not supported for generateContent. Call ListModels to see the list of available models and their supported methods.`;
		case 'path-unknown':
			return 'Requested entity was not found.';
		case 'rate':
		case 'quota':
			return 'You exceeded your current quota, please check your plan and billing details.';
		case 'server':
			return 'An internal error has occurred. Please retry or report in https://developers.generativeai.google/guide/troubleshooting';
		case 'overloaded':
			return 'The model is overloaded. Please try again later.';
		default:
			return error.message;
	}
}

function detailsOf(error: VendorError): JsonObject[] {
	if (error.kind === 'key-invalid') {
		return [
			{ '@type': apiInfo, reason: 'API_KEY_INVALID', domain: 'googleapis.com', metadata: { service: 'generativelanguage.googleapis.com' } },
			{
				'@type': 'type.googleapis.com/google.rpc.LocalizedMessage',
				locale: 'en-US',
				message: 'API key not valid. Please pass a valid API key.',
			},
		];
	}
	if (error.kind === 'rate' || error.kind === 'quota') {
		const quotaId =
			error.kind === 'rate' ? 'GenerateRequestsPerMinutePerProjectPerModel' : 'GenerateRequestsPerDayPerProjectPerModel-FreeTier';
		const failure = { '@type': 'type.googleapis.com/google.rpc.QuotaFailure', violations: [{ quotaId }] };
		if (error.kind === 'quota') return [failure];
		const retryDelay = `${Math.max(0, (error.retryAfterSeconds ?? 1) - 0.6).toFixed(1)}s`;
		return [failure, { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay }];
	}
	return [];
}

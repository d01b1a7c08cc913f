/** Error body that the gateway itself writes; both vendors' SDKs display it. */
export interface GatewayError {
	/** HTTP status; decides `error.type`. */
	readonly status: number;
	readonly code: string;
	/** The gateway's own code, if `code` is a vendor's. */
	readonly gatewayCode?: string | undefined;
	readonly message: string;
	/** JSON path of the invalid field. */
	readonly param?: string | undefined;
	readonly requestId: string;
	/** `error.details`. */
	readonly details?: Readonly<Record<string, unknown>> | undefined;
	/** Members of the body next to `error`, such as `retry_after_seconds`. */
	readonly members?: Readonly<Record<string, unknown>> | undefined;
}

export function renderGatewayError(error: GatewayError): string {
	return JSON.stringify({ type: 'error', ...errorMembers(error), ...error.members });
}

/** Returns the members other than `type`, which the messages format puts first. */
export function errorMembers({ status, code, gatewayCode, message, param, details, requestId }: GatewayError): Record<string, unknown> {
	return {
		error: { type: errorTypeOf(status), message, code, gateway_code: gatewayCode, param: param ?? null, details },
		request_id: requestId,
	};
}

const typeByStatus: Readonly<Record<number, string>> = {
	401: 'authentication_error',
	403: 'permission_error',
	404: 'not_found_error',
	408: 'timeout_error',
	413: 'request_too_large',
	429: 'rate_limit_error',
	503: 'overloaded_error',
	504: 'timeout_error',
	529: 'overloaded_error',
};

/** Returns an error type of the messages format; the chat completions SDKs take any. */
export function errorTypeOf(status: number): string {
	return typeByStatus[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error');
}

/** Error responses of identity: `{error, error_description}` (RFC 6749 section 5.2). */

import { Rejection } from '../../core/rejection.ts';
import { UpstreamError } from '../../core/upstream-error.ts';
import type { ErrorResponse } from '../document-server.ts';

export interface ErrorBody {
	readonly error: string;
	readonly error_description: string;
	readonly request_id?: string;
}

/** @param requestId included in the response to an internal error; it identifies the log line. */
export function renderError(cause: unknown, requestId: string): ErrorResponse<ErrorBody> {
	const known = cause instanceof Rejection || cause instanceof UpstreamError ? cause : rejectionOfServer(cause);
	if (known === undefined) {
		const description = 'Internal error. Operators: the cause is in the log under the request id';
		return { status: 500, headers: {}, body: { error: 'server_error', error_description: description, request_id: requestId } };
	}
	return {
		status: known.status,
		headers: known instanceof Rejection ? headersOf(known) : { 'retry-after': '1' },
		body: { error: known.code, error_description: describable(known.message) },
	};
}

/** Converts errors of the server library about unreadable requests; undefined for other errors. */
function rejectionOfServer(cause: unknown): Rejection | undefined {
	if (!(cause instanceof Error) || !('statusCode' in cause) || typeof cause.statusCode !== 'number' || cause.statusCode >= 500) {
		return undefined;
	}
	if (cause.statusCode === 413) {
		return new Rejection('body_too_large', { message: `The body is larger than ${maxBodyBytes} bytes`, cause });
	}
	if (cause.statusCode === 415) {
		return new Rejection('invalid_request', { message: 'The body must be application/x-www-form-urlencoded', cause });
	}
	return new Rejection('invalid_request', { message: 'The request is malformed', cause });
}

export const maxBodyBytes = 8192;

function headersOf({ code, headers, retryAfterSeconds }: Rejection): Record<string, string> {
	return {
		...headers,
		...(code === 'invalid_client' ? { 'www-authenticate': 'Basic realm="tollgate", charset="UTF-8"' } : {}),
		...(retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }),
	};
}

/** Replaces disallowed characters: RFC 6749 section 5.2 allows printable ASCII without the quote and the backslash. */
function describable(message: string): string {
	return message.replaceAll('\u2019', "'").replace(/[^\x20\x21\x23-\x5b\x5d-\x7e]/g, '?');
}

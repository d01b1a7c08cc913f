/** Error responses of the admin API: `application/problem+json`, RFC 9457. */
import { z } from 'zod';
import { Rejection, type RejectionCode, rejections } from '../../core/rejection.ts';
import { UpstreamError, upstreamErrors } from '../../core/upstream-error.ts';
import type { ErrorResponse } from '../document-server.ts';
import { FieldsRejection } from './fields-rejection.ts';
import { named } from './schemas/values.ts';

/** RFC 9457. */
export const problem = named(
	'Problem',
	z.strictObject({
		type: z.string().describe('`urn:tollgate:problem:` and the code.'),
		title: z.string(),
		status: z.int(),
		detail: z.string(),
		code: z.string(),
		errors: z.array(z.strictObject({ path: z.string(), message: z.string() })).describe('Each invalid field.'),
		request_id: z.string(),
	}),
);

export type ProblemResponse = ErrorResponse<z.output<typeof problem>>;

export const maxBodyBytes = 1_048_576;

/** Renders the problem. Internal errors reveal only the request id, which identifies their log line. */
export function renderProblem(cause: unknown, requestId: string): ProblemResponse {
	const known = cause instanceof Rejection || cause instanceof UpstreamError ? cause : rejectionOfServer(cause);
	if (known === undefined) {
		const detail = 'Internal error. Operators: the cause is in the log under the request id';
		return problemOf({ status: 500, code: 'internal_error', title: 'Internal error', detail, errors: [] }, requestId, {});
	}
	const { code, status, message: detail } = known;
	const { title } = known instanceof UpstreamError ? upstreamErrors[known.code] : rejections[known.code];
	const headers = known instanceof Rejection ? headersOf(known) : { 'retry-after': '1' };
	return problemOf({ status, code, title, detail, errors: errorsOf(known) }, requestId, headers);
}

function problemOf(
	{ status, code, title, detail, errors }: Omit<z.output<typeof problem>, 'type' | 'request_id'>,
	requestId: string,
	headers: Readonly<Record<string, string>>,
): ProblemResponse {
	return {
		status,
		headers: { ...headers, 'content-type': 'application/problem+json; charset=utf-8' },
		body: { type: `urn:tollgate:problem:${code}`, title, status, detail, code, errors, request_id: requestId },
	};
}

function errorsOf(known: Rejection | UpstreamError): z.output<typeof problem>['errors'] {
	if (known instanceof FieldsRejection) return known.errors.map(({ path, message }) => ({ path, message }));
	return known instanceof Rejection && known.param !== undefined ? [{ path: known.param, message: known.message }] : [];
}

function headersOf({ code, headers, retryAfterSeconds }: Rejection): Record<string, string> {
	return {
		...(code === 'token_missing' ? { 'www-authenticate': 'Bearer realm="tollgate"' } : {}),
		...(code === 'token_invalid' ? { 'www-authenticate': 'Bearer realm="tollgate", error="invalid_token"' } : {}),
		...headers,
		...(retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }),
	};
}

/** Converts errors of the server library about unreadable requests; undefined for other errors. */
function rejectionOfServer(cause: unknown): Rejection | undefined {
	if (!(cause instanceof Error) || !('statusCode' in cause) || typeof cause.statusCode !== 'number' || cause.statusCode >= 500) {
		return undefined;
	}
	const message = cause.statusCode === 413 ? `The body is larger than ${maxBodyBytes} bytes` : undefined;
	return new Rejection(codes[cause.statusCode] ?? 'http_malformed', { ...(message !== undefined && { message }), cause });
}

const codes: Readonly<Record<number, RejectionCode>> = { 408: 'body_timeout', 413: 'body_too_large', 415: 'media_type_unsupported' };

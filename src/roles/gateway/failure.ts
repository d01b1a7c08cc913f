/** Renders errors for the client: one error body, or a generic page where the contract requires one. */

import type { HeaderFields, HttpRequest, HttpResponse } from '../../core/handler.ts';
import type { Log } from '../../core/log.ts';
import { Rejection, type RejectionCode, rejections } from '../../core/rejection.ts';
import type { RequestRecord } from '../../core/request-record.ts';
import { UpstreamError, type UpstreamErrorCode, upstreamErrors } from '../../core/upstream-error.ts';
import { LimitRejection } from '../../policy/limits/limit-rejection.ts';
import { AllowListRejection } from '../../policy/routing/allow-lists.ts';
import { accepts } from '../../wire/accepts.ts';
import type { ClientErrors } from '../../wire/dialects/dialect.ts';
import { type GatewayError, renderGatewayError } from '../../wire/gateway-error.ts';
import { renderEdgeRejection } from '../../wire/pages.ts';
import { responseHeaders } from './gateway-headers.ts';
import type { GatewayPorts } from './gateway-settings.ts';
import type { RequestRecorder } from './request-scope/request-recorder.ts';

/** Codes that the edge renders as a page, as does a standalone gateway. */
const pages: ReadonlySet<string> = new Set<RejectionCode | UpstreamErrorCode>([
	'token_missing',
	'token_invalid',
	'scope_missing',
	'key_set_unavailable',
]);

/** Codes for which retries fail until an operator acts. */
const permanent: ReadonlySet<string> = new Set<UpstreamErrorCode>([
	'provider_key_unset',
	'provider_key_rejected',
	'provider_model_unknown',
]);

/** Retry interval, in which the gateway also retries a store or key set that is unavailable. */
const soonSeconds = '1';

/** Renders the response to a request that threw. @param clientErrors of the endpoint's dialect. */
export function renderFailure(
	cause: unknown,
	request: HttpRequest,
	recorder: RequestRecorder,
	ports: GatewayPorts,
	clientErrors?: ClientErrors,
): HttpResponse {
	const error = describeFailure(cause, request.id);
	const { record } = recorder;
	recorder.report(error.code);
	if (cause instanceof LimitRejection && cause.limit !== undefined) recorder.reject(cause.limit);
	if (cause instanceof AllowListRejection) recorder.deny(cause.denial);
	reportFailure(cause, request.id, record, ports.log);
	const headers = responseHeaders(request, recorder, ports.clock);
	if (isPermanent(error.code)) headers['x-should-retry'] = 'false';
	if (isPage(error.code, request.headers)) {
		const page = renderEdgeRejection(cause, request.id);
		return { ...page, headers: { ...page.headers, ...headers }, record };
	}
	headers['content-type'] = 'application/json';
	const retryAfterSeconds = cause instanceof Rejection ? cause.retryAfterSeconds : undefined;
	const maxSeconds = clientErrors?.maxRetryAfterSeconds ?? Number.POSITIVE_INFINITY;
	if (retryAfterSeconds !== undefined) headers['retry-after'] = String(Math.min(retryAfterSeconds, maxSeconds));
	else if (error.status === 503) headers['retry-after'] = soonSeconds;
	if (cause instanceof Rejection) Object.assign(headers, cause.headers);
	// Exact response of the earlier release (Spec: Endpoints, provider routing).
	const body =
		error.code === 'provider_not_set' ? '{"error":"provider is not set"}' : renderGatewayError(clientErrors?.describe(error) ?? error);
	return { status: error.status, headers, body, record, closesConnection: error.code === 'body_too_large' };
}

function isPage(code: string, headers: HeaderFields): boolean {
	// An outage is a page unless the client asks for JSON; a missing key is JSON unless the client asks for a page.
	if (code === 'provider_unreachable') return !accepts('application/json', headers);
	if (code === 'provider_key_unset') return accepts('text/html', headers);
	return pages.has(code);
}

/** Describes an error for a response or a stream. Internal errors reveal no details. */
export function describeFailure(cause: unknown, requestId: string): GatewayError {
	if (!isExpected(cause)) {
		return { status: 500, code: 'internal_error', message: 'Internal error: report it with the request id', requestId };
	}
	const { title, remedy } = cause instanceof Rejection ? rejections[cause.code] : upstreamErrors[cause.code];
	const message = cause.message === title ? `${title}. ${remedy}` : cause.message;
	const reported = { status: cause.status, code: cause.code, message, requestId };
	if (cause instanceof UpstreamError) return reported;
	return { ...reported, param: cause.param, details: cause.details, members: cause instanceof LimitRejection ? cause.members : undefined };
}

/** Logs the details that clients do not get: the cause of a provider failure, and the stack of an internal error. */
export function reportFailure(cause: unknown, requestId: string, { provider }: RequestRecord, log: Log): void {
	if (cause instanceof Rejection) return;
	if (cause instanceof UpstreamError) {
		log.warn('upstream error', { requestId, provider, code: cause.code, message: cause.message, cause: textOf(cause.cause) });
	} else {
		log.error('internal error', { requestId, stack: cause instanceof Error ? cause.stack : String(cause) });
	}
}

function textOf(cause: unknown): string | undefined {
	return cause instanceof Error ? cause.message : undefined;
}

export function isPermanent(code: string): boolean {
	return permanent.has(code);
}

function isExpected(cause: unknown): cause is Rejection | UpstreamError {
	return cause instanceof Rejection || cause instanceof UpstreamError;
}

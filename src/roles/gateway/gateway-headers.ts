import type { Clock } from '../../core/clock.ts';
import type { HttpRequest } from '../../core/handler.ts';
import { addAnthropicRateLimitHeaders, addRateLimitHeaders } from '../../policy/limits/rate-limit-headers.ts';
import { endpoints } from '../../wire/endpoints/endpoints.ts';
import type { RequestRecorder } from './request-scope/request-recorder.ts';

/** Endpoints whose clients read Anthropic's names of rate limits. */
const anthropicPaths: ReadonlySet<string> = new Set(endpoints.filter(({ dialect }) => dialect.name === 'messages').map(({ path }) => path));

/** Returns the header fields of every gateway response; the server adds the request id. */
export function responseHeaders(request: HttpRequest, recorder: RequestRecorder, clock: Clock): Record<string, string> {
	const headers: Record<string, string> = {};
	addResponseHeaders(headers, request, recorder, clock);
	return headers;
}

/** @param upstreamMs duration of the provider's response; undefined if no request was sent. */
export function addResponseHeaders(
	headers: Record<string, string>,
	request: HttpRequest,
	recorder: RequestRecorder,
	clock: Clock,
	upstreamMs?: number,
): void {
	const { provider, model, warnings } = recorder.targetFields;
	if (recorder.limits !== undefined) {
		const { rates, reading } = recorder.limits;
		addRateLimitHeaders(headers, rates, reading);
		if (anthropicPaths.has(request.path)) addAnthropicRateLimitHeaders(headers, rates, reading);
	}
	if (provider !== undefined) headers['x-gateway-provider'] = provider;
	if (model !== undefined) headers['x-gateway-model'] = printableName(model);
	addWarnings(headers, warnings);
	const totalMs = clock.monotonicMs() - request.arrivedMs;
	headers['server-timing'] =
		upstreamMs === undefined
			? `gateway;dur=${totalMs.toFixed(1)}`
			: `gateway;dur=${(totalMs - upstreamMs).toFixed(1)}, upstream;dur=${upstreamMs.toFixed(1)}`;
}

export function addWarnings(headers: Record<string, string>, warnings: readonly string[]): void {
	if (warnings.length === 0) return;
	const all = warnings.map(visibleText).join('; ');
	const earlier = headers['x-gateway-warnings'];
	headers['x-gateway-warnings'] = earlier === undefined ? all : `${earlier}; ${all}`;
}

/** Warnings can contain field names of the client's request. Header fields are in ASCII, also their apostrophes. */
function visibleText(text: string): string {
	return text
		.replaceAll('’', "'")
		.replace(/[^\x20-\x7e]/g, '?')
		.slice(0, 500);
}

/** Encodes a model name, because the client can send characters that a header field cannot contain. */
function printableName(name: string): string {
	return /^[\x21-\x7e]+$/.test(name) ? name : encodeURIComponent(name.toWellFormed());
}

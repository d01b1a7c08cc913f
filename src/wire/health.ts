/** Health responses for load balancers, the same for every role. */
import type { HttpResponse } from '../core/handler.ts';
import type { Readiness } from '../core/readiness.ts';

/** The process is running. */
export const liveness: HttpResponse = renderState(200, { status: 'ok' });

/** The process is shutting down. An edge in front sends its requests elsewhere; other clients still see 200. */
export const draining: HttpResponse = renderState(200, { status: 'shutting_down' });

/** True for the body of `draining`. */
export function isDrainingResponse(text: string): boolean {
	return text === draining.body;
}

/** Readiness: the process can serve requests, and is not shutting down. */
export function renderReadiness({ isReady, dependencies }: Readiness, isDraining: boolean): HttpResponse {
	if (isDraining) return renderState(503, { status: 'draining', dependencies });
	return renderState(isReady ? 200 : 503, { status: isReady ? 'ready' : 'not_ready', dependencies });
}

function renderState(status: number, state: Readonly<Record<string, unknown>>): HttpResponse {
	const headers = { 'content-type': 'application/json', 'cache-control': 'no-store' };
	return { status, headers, body: JSON.stringify(state) };
}

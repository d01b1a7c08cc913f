/** What balancers are told; the same words by every role that they ask. */
import type { HttpResponse } from '../core/handler.ts';
import type { Readiness } from '../core/readiness.ts';

/** The process turns. */
export const liveness: HttpResponse = renderState(200, { status: 'ok' });

/** It turns, and will not for long: an edge in front takes its requests elsewhere, others see 200 as ever. */
export const leaving: HttpResponse = renderState(200, { status: 'shutting_down' });

/** Whether this is the body of `leaving`. */
export function saysLeaving(text: string): boolean {
	return text === leaving.body;
}

/** The process can do its work now; not while it is shutting down. */
export function renderReadiness({ isReady, dependencies }: Readiness, isDraining: boolean): HttpResponse {
	if (isDraining) return renderState(503, { status: 'draining', dependencies });
	return renderState(isReady ? 200 : 503, { status: isReady ? 'ready' : 'not_ready', dependencies });
}

function renderState(status: number, state: Readonly<Record<string, unknown>>): HttpResponse {
	const headers = { 'content-type': 'application/json', 'cache-control': 'no-store' };
	return { status, headers, body: JSON.stringify(state) };
}

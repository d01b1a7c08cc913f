/** What balancers are told; the same words by every role that they ask. */
import type { HttpResponse } from '../core/handler.ts';
import type { Readiness } from '../core/readiness.ts';

/** The process turns. */
export const liveness: HttpResponse = renderState(200, { status: 'ok' });

/** The process can do its work now; not while it is shutting down. */
export function renderReadiness({ isReady, dependencies }: Readiness, isDraining: boolean): HttpResponse {
	if (isDraining) return renderState(503, { status: 'draining', dependencies });
	return renderState(isReady ? 200 : 503, { status: isReady ? 'ready' : 'not ready', dependencies });
}

function renderState(status: number, state: Readonly<Record<string, unknown>>): HttpResponse {
	const headers = { 'content-type': 'application/json', 'cache-control': 'no-store' };
	return { status, headers, body: JSON.stringify(state) };
}

import type { HttpRequest, HttpResponse } from '../../core/handler.ts';
import type { EdgePorts } from './edge-settings.ts';

/** The process turns. */
export function serveLiveness(request: HttpRequest): HttpResponse {
	return answerState(request, 200, { status: 'ok' });
}

/** The process can do its work now; not while it is shutting down. */
export async function serveReadiness(request: HttpRequest, ports: EdgePorts): Promise<HttpResponse> {
	const { isReady, dependencies } = await ports.readiness();
	if (ports.isDraining()) return answerState(request, 503, { status: 'draining', dependencies });
	return answerState(request, isReady ? 200 : 503, { status: isReady ? 'ready' : 'not ready', dependencies });
}

function answerState(request: HttpRequest, status: number, state: Readonly<Record<string, unknown>>): HttpResponse {
	const headers = {
		'content-type': 'application/json',
		'cache-control': 'no-store',
		'x-request-id': request.id,
		'request-id': request.id,
	};
	return { status, headers, body: request.method === 'HEAD' ? null : JSON.stringify(state) };
}

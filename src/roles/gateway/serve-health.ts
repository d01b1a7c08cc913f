import type { HttpRequest, HttpResponse } from '../../core/handler.ts';
import { answerHeaders } from './answer-headers.ts';
import type { GatewayPorts } from './gateway-settings.ts';

/** The process turns. */
export function serveHealth(request: HttpRequest, ports: GatewayPorts): HttpResponse {
	return answerState(request, 200, { status: 'ok' }, ports);
}

/** The process can do its work now; each dependency's state. */
export async function serveReadiness(request: HttpRequest, ports: GatewayPorts): Promise<HttpResponse> {
	const { isReady, dependencies } = await ports.readiness();
	return answerState(request, isReady ? 200 : 503, { status: isReady ? 'ready' : 'not ready', dependencies }, ports);
}

function answerState(
	request: HttpRequest,
	status: number,
	state: Readonly<Record<string, unknown>>,
	{ clock }: GatewayPorts,
): HttpResponse {
	const headers = { ...answerHeaders(request, {}, clock), 'content-type': 'application/json', 'cache-control': 'no-store' };
	return { status, headers, body: request.method === 'HEAD' ? null : JSON.stringify(state) };
}

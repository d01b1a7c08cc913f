/** Protects the gateway: rejected requests never reach the inner handler. */

import type { Caller } from '../../core/caller.ts';
import type { Handler, HttpRequest, HttpResponse, Layer } from '../../core/handler.ts';
import { memoizeByHeaders } from '../../core/header-memo.ts';
import { Rejection } from '../../core/rejection.ts';
import { RequestRecord } from '../../core/request-record.ts';
import { UpstreamError } from '../../core/upstream-error.ts';
import { requireScope } from '../../policy/access/require-scope.ts';
import { readAccessToken } from '../../policy/access/token-headers.ts';
import { canonicalPath } from '../../wire/canonical-path.ts';
import { draining, liveness, renderReadiness } from '../../wire/health.ts';
import { renderEdgeRejection } from '../../wire/pages.ts';
import type { EdgePorts, EdgeSettings } from './edge-settings.ts';

/** Response to `OPTIONS`, the same for every path, so that it does not reveal which paths exist. */
const methods: HttpResponse = { status: 204, headers: { allow: 'GET, HEAD, POST, OPTIONS' }, body: null };

/** Applies in order: firewall, token, scope, then `inner` with the verified caller. */
export function edgeLayer(settings: EdgeSettings, ports: EdgePorts): Layer {
	const scope = `${settings.scopeBase}/invoke`;
	const reject = (cause: unknown, request: HttpRequest, clientId: string | undefined): HttpResponse => {
		reportRejection(cause, request, ports);
		const response = renderEdgeRejection(cause, request.id);
		const { monitored } = request;
		if (clientId === undefined && monitored === undefined) return response;
		return { ...response, record: Object.assign(new RequestRecord(), response.record, { clientId, monitored }) };
	};

	const enter = (checked: HttpRequest, caller: Caller, inner: Handler): Promise<HttpResponse> => {
		try {
			requireScope(caller, scope);
		} catch (cause) {
			return Promise.resolve(reject(cause, checked, caller.clientId));
		}
		return inner({ ...checked, path: canonicalPath(checked.path), caller });
	};

	const tokenOf = memoizeByHeaders((headers) => {
		const accessToken = readAccessToken(headers, settings.tokenHeaders);
		return { accessToken, digest: ports.verifier.digest?.(accessToken) };
	});

	return (inner: Handler): Handler =>
		(request) => {
			if (isRead(request.method)) {
				if (request.path === '/healthz') return Promise.resolve(liveness);
				if (request.path === '/readyz') return readiness(ports);
			}
			let checked = request;
			let caller: Caller | Promise<Caller>;
			try {
				checked = ports.firewall(request);
				if (request.path === '/' && isRead(request.method)) return Promise.resolve(ports.isShuttingDown() ? draining : liveness);
				if (request.method === 'OPTIONS') return Promise.resolve(methods);
				if (ports.isDraining()) throw new Rejection('draining');
				if (ports.overload() !== undefined) throw new Rejection('overloaded');
				const { accessToken, digest } = tokenOf(request.headers);
				caller = ports.verifier.verify(accessToken, digest);
			} catch (cause) {
				return Promise.resolve(reject(cause, checked, undefined));
			}
			// Avoids a promise if the caller is known synchronously.
			if (!(caller instanceof Promise)) return enter(checked, caller, inner);
			return caller.then(
				(verified) => enter(checked, verified, inner),
				(cause: unknown) => reject(cause, checked, undefined),
			);
		};
}

async function readiness(ports: EdgePorts): Promise<HttpResponse> {
	return renderReadiness(await ports.readiness(), ports.isDraining());
}

function isRead(method: string): boolean {
	return method === 'GET' || method === 'HEAD';
}

/** Logs the cause. Reasons for token rejections are for operators who look for them; internal errors are for all operators. */
function reportRejection(cause: unknown, request: HttpRequest, { log }: EdgePorts): void {
	if (cause instanceof Rejection || cause instanceof UpstreamError) {
		log.debug('request rejected at the edge', { requestId: request.id, code: cause.code, reason: cause.cause });
	} else {
		log.error('internal error at the edge', { requestId: request.id, error: cause });
	}
}

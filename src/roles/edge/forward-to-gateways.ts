/** Inner handler of a separate edge: forwards each request to a gateway and relays the response. */

import { isByteStream, readAll } from '../../core/byte-stream.ts';
import { connectionFields } from '../../core/connection-fields.ts';
import type { ByteStream, Handler, HeaderFields, HttpRequest, HttpResponse } from '../../core/handler.ts';
import { Rejection, type RejectionCode } from '../../core/rejection.ts';
import type { Upstream, UpstreamRequest, UpstreamResponse, UpstreamTimeouts } from '../../core/upstream.ts';
import { UpstreamError, type UpstreamErrorCode, upstreamErrors } from '../../core/upstream-error.ts';
import { readAccessToken, type TokenHeader } from '../../policy/access/token-headers.ts';
import { accepts } from '../../wire/accepts.ts';
import type { ClientDialect } from '../../wire/dialects/dialect.ts';
import { clientDialects } from '../../wire/dialects/dialects.ts';
import { inferenceEndpoints } from '../../wire/endpoints/endpoints.ts';
import { splitStoredPath } from '../../wire/endpoints/stored-responses.ts';
import { renderGatewayError } from '../../wire/gateway-error.ts';
import { renderEdgeRejection } from '../../wire/pages.ts';
import { mediaTypeOf } from '../../wire/providers/relayed-headers.ts';
import { GatewayHealth, type HealthCheckSettings, reasonOf } from './gateway-health.ts';
import { type GatewayInPool, GatewayPool, type GatewayPoolPorts } from './gateway-pool.ts';
import { type InFlightResponses, RelayedResponse } from './relayed-response.ts';

export interface ForwardSettings {
	/** Origins such as `http://10.0.0.7:8787`. */
	readonly gateways: readonly string[];
	/** Header fields in which clients send their access tokens; gateways receive it in `authorization`. */
	readonly tokenHeaders: readonly TokenHeader[];
	readonly timeouts: UpstreamTimeouts;
	readonly healthCheck: HealthCheckSettings;
}

export interface ForwardPorts extends GatewayPoolPorts {
	readonly upstream: Upstream;
	/** Open responses, shared by all configurations of a process. */
	readonly inFlightResponses: InFlightResponses;
}

export interface Forwarding {
	readonly handle: Handler;
	/** Resolves after the first health check of every gateway; health checks continue until `stop`. */
	start(): Promise<void>;
	stop(): void;
	isAnyUsable(): boolean;
}

/** Limits connection timeouts per request. A rejected connection takes no time, and the next gateway is tried. */
const maxTimeouts = 3;

/** Fields of the connection between client and edge, and fields that the forwarded request sets itself. */
const ownFields: ReadonlySet<string> = new Set([...connectionFields, 'content-length', 'expect', 'host', 'proxy-authorization']);

const apiKeyFields: ReadonlySet<string> = new Set<TokenHeader>(['x-api-key', 'api-key', 'x-goog-api-key']);

/**
 * Forwards requests. If a gateway cannot be connected to, the request fails over to the next one. A request that may have been sent in part
 * is not repeated, unless it is a GET or HEAD without a body. Returns 503 if no gateway is reachable, and 502 if a gateway is lost after it
 * received the request.
 */
export function forwardToGateways({ gateways, tokenHeaders, timeouts, healthCheck }: ForwardSettings, ports: ForwardPorts): Forwarding {
	const { upstream, clock, inFlightResponses } = ports;
	const pool = new GatewayPool(gateways, ports);
	const health = new GatewayHealth(pool, healthCheck, ports);
	const relay = (request: HttpRequest, { status, headers, body }: UpstreamResponse, gateway: GatewayInPool): HttpResponse => {
		const relayedRequestId = idOf(headers) ?? request.id;
		const relayed = new RelayedResponse(body, isEventStream(headers) ? formatOf(request.path) : undefined, relayedRequestId, (cause) => {
			inFlightResponses.remove(relayed);
			gateway.inFlight--;
			if (isLost(cause)) pool.countLost(gateway);
			else pool.noteResponse(gateway);
		});
		inFlightResponses.add(relayed);
		const record = {
			relayedRequestId,
			...(request.caller !== undefined && { clientId: request.caller.clientId }),
			upstreamStatus: status,
			monitored: request.monitored,
			firstByteMs: clock.monotonicMs() - request.arrivedMs,
		};
		return { status, headers, body: relayed.body, record };
	};
	const forward: Handler = async (request) => {
		const handover = new Handover(request, forwardedFields(request, tokenHeaders), await bodyOf(request));
		const tried = new Map<GatewayInPool, number>();
		// Gateways that come back meanwhile are tried again, within limits.
		const maxTries = pool.gateways.length + maxTimeouts;
		let remainingTimeouts = maxTimeouts;
		let cause: unknown;
		for (let tries = 0; tries < maxTries && remainingTimeouts > 0 && !handover.isOver; tries++) {
			const gateway = pool.choose(tried);
			if (gateway === undefined) break;
			const { returns, outage } = gateway;
			tried.set(gateway, returns);
			gateway.inFlight++;
			try {
				const response = await upstream({ ...handover.request, origin: gateway.origin, timeouts });
				pool.noteReached(gateway);
				return relay(request, response, gateway);
			} catch (failure) {
				gateway.inFlight--;
				cause = failure;
				if (!isLost(failure)) break;
				if (handover.hasBegun) pool.countLost(gateway);
				else pool.markDown(gateway, { kind: 'unreachable', reason: reasonOf(failure) }, returns);
				// A gateway that was already out of rotation uses up all timeouts, so that the client does not wait three times.
				if (failure.code === 'provider_connect_timeout') remainingTimeouts -= outage === undefined ? 1 : maxTimeouts;
			}
		}
		throw isLost(cause) && !handover.isOver ? new Rejection('no_gateway', { cause }) : cause;
	};
	return {
		async handle(request) {
			try {
				return await forward(request);
			} catch (cause) {
				const failure = asGatewayFailure(cause);
				if (failure instanceof UpstreamError && accepts('application/json', request.headers)) return renderLoss(failure, request.id);
				if (failure instanceof Rejection && inflating.has(failure.code)) return renderUnread(failure, request.id);
				if (failure instanceof Rejection || failure instanceof UpstreamError) return renderEdgeRejection(failure, request.id);
				throw failure;
			}
		},
		start: () => health.start(),
		stop: () => health.stop(),
		isAnyUsable: () => pool.isAnyUsable(),
	};
}

/**
 * Maximum size of a body that is read before it is forwarded. That costs a fraction of streaming it, and a slow client occupies no gateway.
 */
const maxBufferedBodyBytes = 65_536;

function bodyOf({ announcedLength, body }: HttpRequest): UpstreamRequest['body'] | Promise<Buffer> {
	if (announcedLength === 0) return null;
	return announcedLength !== undefined && announcedLength <= maxBufferedBodyBytes ? readAll(body, maxBufferedBodyBytes) : body;
}

/** One request and its attempts at gateways. */
class Handover {
	readonly request: Omit<UpstreamRequest, 'origin' | 'timeouts'>;
	/** True once a gateway may have received a part, or the body is spent: a stream can be read only once. */
	hasBegun = false;
	readonly #canBeRepeated: boolean;

	constructor(request: HttpRequest, headers: UpstreamRequest['headers'], body: UpstreamRequest['body']) {
		this.#canBeRepeated = body === null && (request.method === 'GET' || request.method === 'HEAD');
		this.request = {
			method: request.method,
			target: request.query === '' ? request.path : `${request.path}?${request.query}`,
			headers,
			body: isByteStream(body) ? this.#noticed(body) : body,
			canReachPrivateNetwork: true,
			onSent: () => {
				this.hasBegun = true;
			},
			onClientDisconnect: (listener: () => void) => request.onClientDisconnect(listener),
		};
	}

	#noticed(body: ByteStream): ByteStream {
		return {
			start: (sink) => {
				this.hasBegun = true;
				return body.start(sink);
			},
		};
	}

	/** True if no other gateway may be tried. */
	get isOver(): boolean {
		return this.hasBegun && !this.#canBeRepeated;
	}
}

/**
 * Selects the fields to forward. Of the token fields, only `authorization` remains: a field that the edge did not verify must not decide
 * anything in the gateway either.
 */
function forwardedFields({ headers: received, announcedLength }: HttpRequest, listed: readonly TokenHeader[]): Record<string, string> {
	const named = new Set(
		String(received['connection'] ?? '')
			.toLowerCase()
			.split(',')
			.map((name) => name.trim()),
	);
	const headers: Record<string, string> = {};
	for (const [name, value] of Object.entries(received)) {
		if (value === undefined || ownFields.has(name) || apiKeyFields.has(name) || named.has(name)) continue;
		headers[name] = Array.isArray(value) ? value.join(', ') : value;
	}
	if (received['authorization'] === undefined) headers['authorization'] = `Bearer ${readAccessToken(received, listed)}`;
	if (announcedLength !== undefined && announcedLength !== 0) headers['content-length'] = String(announcedLength);
	return headers;
}

function isEventStream(headers: HeaderFields): boolean {
	return mediaTypeOf(headers) === 'text/event-stream';
}

/** Returns the gateway's request id, which is the one that the client receives. */
function idOf(headers: HeaderFields): string | undefined {
	const id = headers['x-request-id'];
	return typeof id === 'string' && id.length <= 128 ? id : undefined;
}

function formatOf(path: string): ClientDialect | undefined {
	if (splitStoredPath(path) !== undefined) return clientDialects.responses;
	return inferenceEndpoints.find((endpoint) => endpoint.path === path)?.dialect;
}

const lossCodes: ReadonlySet<UpstreamErrorCode> = new Set(['provider_unreachable', 'provider_connect_timeout', 'provider_disconnected']);

/** Returns true for the upstream client's errors about a server that is unreachable or was lost. */
function isLost(cause: unknown): cause is UpstreamError {
	return cause instanceof UpstreamError && lossCodes.has(cause.code);
}

/** Renders JSON as the gateway does for an unavailable provider: SDKs show it, unlike an HTML page. */
function renderLoss({ status, code }: UpstreamError, requestId: string): HttpResponse {
	const { title, remedy } = upstreamErrors[code];
	const body = renderGatewayError({ status, code, message: `${title}. ${remedy}`, requestId });
	return { status, headers: { 'content-type': 'application/json' }, body, record: { code } };
}

/** Codes about the body, for which a gateway would return the same JSON. */
const inflating: ReadonlySet<RejectionCode> = new Set<RejectionCode>(['body_not_gzip', 'body_too_large']);

function renderUnread({ status, code, message }: Rejection, requestId: string): HttpResponse {
	const body = renderGatewayError({ status, code, message, requestId });
	return { status, headers: { 'content-type': 'application/json' }, body, record: { code }, closesConnection: true };
}

/** Replaces the upstream client's error, which names a provider, by one that names a gateway. */
function asGatewayFailure(cause: unknown): unknown {
	return cause instanceof UpstreamError ? new UpstreamError('gateway_unreachable', { cause }) : cause;
}

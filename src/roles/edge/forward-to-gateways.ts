/** The inner handler of an edge that runs apart: hands each request to a gateway and relays what it answers. */
import { wrapStream } from '../../core/byte-stream.ts';
import type { Clock } from '../../core/clock.ts';
import { Fault } from '../../core/fault.ts';
import type { ByteFlow, ByteSink, ByteStream, Handler, HttpRequest, HttpResponse } from '../../core/handler.ts';
import { Refusal } from '../../core/refusal.ts';
import type { Upstream, UpstreamRequest, UpstreamTimeouts } from '../../core/upstream.ts';
import { renderEdgeRefusal } from '../../wire/pages.ts';

export interface ForwardSettings {
	/** Origins, such as `http://10.0.0.7:8787`. */
	readonly gateways: readonly string[];
	readonly timeouts: UpstreamTimeouts;
}

export interface ForwardPorts {
	readonly upstream: Upstream;
	readonly clock: Clock;
}

/** A gateway that could not be reached is left alone for so long, unless all are. */
const restMs = 5000;

/** Gateways that one request may find closed before it is given up. */
const mostTries = 3;

/** Fields of the connection between client and edge (RFC 9110 section 7.6.1), and those the way onward sets itself. */
const ownFields: ReadonlySet<string> = new Set([
	'connection',
	'content-length',
	'expect',
	'host',
	'keep-alive',
	'proxy-authorization',
	'proxy-connection',
	'te',
	'trailer',
	'transfer-encoding',
	'upgrade',
]);

/**
 * Gateways take turns. One that cannot be reached is passed over, and the request goes to the next; what has begun to be
 * sent is never sent again. 503 when no gateway can be reached, 502 when one is lost after it was given the request.
 */
export function forwardToGateways({ gateways, timeouts }: ForwardSettings, { upstream, clock }: ForwardPorts): Handler {
	const restingUntilMs = new Map<string, number>();
	let turn = 0;
	/** Those that do not rest, in turn; when all do, the next one in turn. */
	const candidates = (): readonly string[] => {
		turn = (turn + 1) % gateways.length;
		const nowMs = clock.monotonicMs();
		const inTurn = [...gateways.slice(turn), ...gateways.slice(0, turn)];
		const awake = inTurn.filter((origin) => (restingUntilMs.get(origin) ?? 0) <= nowMs);
		return awake.length > 0 ? awake.slice(0, mostTries) : inTurn.slice(0, 1);
	};
	return async (request) => {
		const handover = new Handover(request);
		let cause: unknown;
		for (const origin of candidates()) {
			try {
				return relay(request, await upstream({ ...handover.request, origin, timeouts }), clock);
			} catch (failure) {
				cause = failure;
				if (!isUnreachable(failure)) break;
				restingUntilMs.set(origin, clock.monotonicMs() + restMs);
				if (handover.hasBegun) break;
			}
		}
		if (isUnreachable(cause) && !handover.hasBegun) cause = new Refusal('no_gateway', { cause });
		const failure = asGatewayFailure(cause);
		if (failure instanceof Refusal || failure instanceof Fault) return renderEdgeRefusal(failure, request.id);
		throw failure;
	};
}

/** One request on its way to a gateway; knows whether a gateway may have received something of it. */
class Handover implements ByteStream {
	readonly request: Omit<UpstreamRequest, 'origin' | 'timeouts'>;
	readonly #body: ByteStream;
	/** Without a body nothing shows when sending began: only what changes nothing may be sent again. */
	#hasBegun: boolean;

	constructor(request: HttpRequest) {
		const hasBody = request.announcedLength !== 0;
		this.#body = request.body;
		this.#hasBegun = !hasBody && request.method !== 'GET' && request.method !== 'HEAD';
		this.request = {
			method: request.method,
			target: request.query === '' ? request.path : `${request.path}?${request.query}`,
			headers: forwardedFields(request),
			body: hasBody ? this : null,
			mayReachPrivateNetwork: true,
			onClientGone: (listener: () => void) => request.onClientGone(listener),
		};
	}

	get hasBegun(): boolean {
		return this.#hasBegun;
	}

	start(sink: ByteSink): ByteFlow {
		this.#hasBegun = true;
		return this.#body.start(sink);
	}
}

function forwardedFields({ headers: received, announcedLength }: HttpRequest): Record<string, string> {
	const named = new Set(
		String(received['connection'] ?? '')
			.toLowerCase()
			.split(',')
			.map((name) => name.trim()),
	);
	const headers: Record<string, string> = {};
	for (const [name, value] of Object.entries(received)) {
		if (value === undefined || ownFields.has(name) || named.has(name)) continue;
		headers[name] = Array.isArray(value) ? value.join(', ') : value;
	}
	if (announcedLength !== undefined && announcedLength !== 0) headers['content-length'] = String(announcedLength);
	return headers;
}

function relay(request: HttpRequest, { status, headers, body }: HttpResponse & { readonly body: ByteStream }, clock: Clock): HttpResponse {
	const relayed = wrapStream(body, (sink) => ({
		write: (chunk) => sink.write(chunk),
		end: () => sink.end(),
		fail: (cause) => sink.fail(asGatewayFailure(cause)),
	}));
	const facts = {
		...(request.caller !== undefined && { clientId: request.caller.clientId }),
		upstreamStatus: status,
		firstByteMs: clock.monotonicMs() - request.arrivedMs,
	};
	return { status, headers, body: relayed, facts };
}

function isUnreachable(cause: unknown): boolean {
	return cause instanceof Fault && (cause.code === 'provider_unreachable' || cause.code === 'provider_connect_timeout');
}

/** The upstream client speaks of providers; here the other side is a gateway. */
function asGatewayFailure(cause: unknown): unknown {
	return cause instanceof Fault ? new Fault('gateway_unreachable', { cause }) : cause;
}

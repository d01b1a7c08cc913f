/** Connections to one origin that undici manages, for requests of the upstream client. */
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type buildConnector, Client, Pool as ClientPool, type Dispatcher } from 'undici';
import type { UpstreamProxy, UpstreamRequest } from '../../../core/upstream.ts';
import { bodyLength } from '../client/request-head.ts';
import type { Pool, PoolOptions } from '../client/upstream-client.ts';
import { createSocketOpener, type OpenSocket, openUnlessRefused, positionOf } from '../client/upstream-connector.ts';
import type { WaitingExchange } from '../client/upstream-pool.ts';
import { PausableSocket } from './pausable-socket.ts';
import { createTunnelOpener, ProxyRejected } from './tunnel.ts';
import { type PausableConnection, UndiciExchange } from './undici-exchange.ts';

export type UndiciPoolOptions = Omit<PoolOptions, 'deadlines'>;

/** Same value as in the native client; see `upstream-connection.ts`. */
const restMs = 4000;
const maxAnnouncedRestMs = 60_000;
const restMarginMs = 2000;
const maxHeadBytes = 65_536;

export class UndiciPool implements Pool {
	readonly #origin: string;
	/** Requests without TLS name their origin to the proxy, which forwards them; others use a tunnel. */
	readonly #forwardingProxy: UpstreamProxy | undefined;
	readonly #pool: ClientPool;
	readonly #maxConnections: number;
	/** Requests not yet given to undici, which would retain them with their bodies until a connection is free. */
	readonly #waiting = new Set<WaitingExchange>();
	/** Requests whose end undici has not reported. */
	#inFlight = 0;
	#isRetired = false;
	/** Cause of the pool's end; set once it serves no more requests. */
	#end: Error | undefined;
	readonly #exchanges = new Map<WaitingExchange, UndiciExchange>();
	/** Undici passes the options of a request on unchanged, but wraps its handler. */
	readonly #byOptions = new WeakMap<Dispatcher.DispatchOptions, UndiciExchange>();
	/** Functions that end the connection attempts. */
	readonly #opening = new Set<() => void>();
	/** Connect timeout of the latest request. */
	#connectMs = 1;

	constructor(options: UndiciPoolOptions) {
		const { origin, proxy, maxConnections } = options;
		const isForwarding = proxy !== undefined && !positionOf(origin).isTls;
		this.#origin = origin;
		this.#maxConnections = maxConnections;
		this.#forwardingProxy = isForwarding ? proxy : undefined;
		const open = createOpener(options);
		this.#pool = new ClientPool(isForwarding ? proxy.origin : origin, {
			connections: maxConnections,
			pipelining: 1,
			allowH2: false,
			maxHeaderSize: maxHeadBytes,
			strictContentLength: true,
			keepAliveTimeout: restMs,
			keepAliveMaxTimeout: maxAnnouncedRestMs,
			keepAliveTimeoutThreshold: restMarginMs,
			// The request applies its own time limits.
			headersTimeout: 0,
			bodyTimeout: 0,
			factory: (place, clientOptions: Client.Options) => this.#createClient(place, clientOptions, open),
		});
	}

	enter(exchange: WaitingExchange): void {
		if (this.#end !== undefined) {
			exchange.onNoConnection(this.#end);
			return;
		}
		this.#waiting.add(exchange);
		this.#sendWaiting();
	}

	#sendWaiting(): void {
		for (const exchange of this.#waiting) {
			if (this.#inFlight >= this.#maxConnections) return;
			this.#waiting.delete(exchange);
			this.#send(exchange);
		}
		if (this.#isRetired) void this.#pool.close().catch(() => undefined);
	}

	#send(undiciExchange: WaitingExchange): void {
		const { request } = undiciExchange;
		const proxy = this.#forwardingProxy;
		this.#connectMs = request.timeouts.connectMs;
		const exchange = new UndiciExchange(undiciExchange, {
			checkStatus: (status) => {
				if (proxy !== undefined && status === 407) throw new ProxyRejected(proxy, this.#origin, status);
			},
			onEnd: () => {
				this.#inFlight--;
				this.#sendWaiting();
			},
		});
		this.#inFlight++;
		this.#exchanges.set(undiciExchange, exchange);
		const options: Dispatcher.DispatchOptions = {
			path: proxy === undefined ? request.target : `${this.#origin}${request.target}`,
			method: request.method,
			headers: { ...(proxy !== undefined && proxyFields(this.#origin, proxy)), ...request.headers, ...lengthField(request.body) },
			body: exchange.body(),
		};
		this.#byOptions.set(options, exchange);
		this.#pool.dispatch(options, exchange);
	}

	/** Undici's pool creates a client for each connection. */
	#createClient(place: URL, options: Client.Options, open: OpenSocket): Client {
		let connection: PausableSocket | undefined;
		const buffered: PausableConnection = {
			pauseReading: () => connection?.pauseReading(),
			resumeReading: () => connection?.resumeReading(),
		};
		const connect: buildConnector.connector = (_place, notify) => {
			const cancel = open(this.#connectMs, {}, (result) => {
				this.#opening.delete(cancel);
				if (result instanceof Error) {
					notify(result, null);
					return;
				}
				connection = new PausableSocket(result);
				// Undici takes any duplex stream; its types demand a socket.
				notify(null, connection as Duplex as Socket);
			});
			this.#opening.add(cancel);
		};
		return new TrackedClient(place, { ...options, connect }, (request) => this.#byOptions.get(request)?.assign(buffered));
	}

	/** Undici checks an idle connection before it writes to it. */
	reenter(exchange: WaitingExchange): void {
		this.enter(exchange);
	}

	leave(exchange: WaitingExchange): void {
		this.#waiting.delete(exchange);
		this.#exchanges.get(exchange)?.leave();
		this.#exchanges.delete(exchange);
	}

	/** Lets in-flight requests finish; no connection stays idle after that. */
	retire(): void {
		this.#isRetired = true;
		this.#sendWaiting();
	}

	/** Closes every connection; in-flight and waiting requests fail with the cause. */
	destroy(cause: Error): void {
		this.#end = cause;
		for (const exchange of [...this.#waiting]) exchange.onNoConnection(cause);
		this.#waiting.clear();
		void this.#pool.destroy(cause).catch(() => undefined);
		for (const cancel of this.#opening) cancel();
	}
}

/** A client that reports the requests it is given. */
class TrackedClient extends Client {
	readonly #onDispatch: (options: Dispatcher.DispatchOptions) => void;

	constructor(place: URL, options: Client.Options, onDispatch: (options: Dispatcher.DispatchOptions) => void) {
		super(place, options);
		this.#onDispatch = onDispatch;
	}

	override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
		this.#onDispatch(options);
		return super.dispatch(options, handler);
	}
}

/** Undici computes the length of a single buffer only. */
function lengthField(body: UpstreamRequest['body']): { readonly 'content-length': string } | undefined {
	const bytes = Array.isArray(body) ? bodyLength(body) : undefined;
	return bytes === undefined ? undefined : { 'content-length': String(bytes) };
}

function proxyFields(origin: string, { authorization }: UpstreamProxy): Record<string, string> {
	return { host: new URL(origin).host, ...(authorization !== undefined && { 'proxy-authorization': authorization }) };
}

function createOpener(options: UndiciPoolOptions): OpenSocket {
	const { origin, proxy, isAllowedAddress } = options;
	if (proxy === undefined) return createSocketOpener(origin, options);
	const { hostname, isTls } = positionOf(origin);
	if (isTls) return createTunnelOpener(origin, proxy, options);
	// The operator configures the proxy, so any address is allowed; the proxy judges the origin's name.
	const openProxy = createSocketOpener(proxy.origin, { ...options, isAllowedAddress: undefined });
	return openUnlessRefused(hostname, isAllowedAddress, openProxy);
}

/**
 * HTTP/1.1 server of the data plane: `node:http` behind a fast path for simple requests, with strict parsing, bounds, and one `Handler`.
 */
import type { Server, ServerOptions } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Clock } from '../../../core/clock.ts';
import type { Handler, HttpResponse } from '../../../core/handler.ts';
import type { Log, LogFields } from '../../../core/log.ts';
import { Rejection } from '../../../core/rejection.ts';
import { DeadlineSweep } from '../../deadline-sweep.ts';
import { http } from '../../node-http.ts';
import { logRequest, type RequestLogEntry, type RequestObserver, sentOutcome } from '../../request-log.ts';
import { adoptSocketWithSharedBuffer } from '../shared-read-buffer.ts';
import { FastPathConnection, type FastPathDeps } from './fast-path-connection.ts';
import { ConnectionLines } from './fast-path-response.ts';
import { checkHead } from './http-sanity.ts';
import type { ReceivedRequest, ResponseWriter } from './received-request.ts';
import { rawResponse } from './response-fields.ts';
import { ServerConnection } from './server-connection.ts';
import { type ExchangeDeps, ServerExchange } from './server-exchange.ts';

export interface HttpServerLimits {
	/** Request line and header fields together. */
	readonly maxHeaderBytes: number;
	/** From the start of the connection, or the first byte of a later request, to the end of the head; then the connection is closed. */
	readonly headersTimeoutMs: number;
	/** From the end of the head to the end of the body; then the body's reader fails with `body_timeout`. */
	readonly bodyTimeoutMs: number;
	/** Idle time between requests. Must exceed the idle timeout of the load balancer. */
	readonly keepAliveMs: number;
	/** 0 for no limit. */
	readonly maxConnections: number;
	/** Limit per peer address, except for peers that `isExemptPeer` matches; 0 for no limit. */
	readonly maxConnectionsPerPeer: number;
	/** 0 for no limit. */
	readonly maxRequestsPerConnection: number;
}

export const defaultHttpServerLimits: HttpServerLimits = {
	maxHeaderBytes: 16_384,
	headersTimeoutMs: 10_000,
	bodyTimeoutMs: 60_000,
	keepAliveMs: 75_000,
	maxConnections: 10_000,
	maxConnectionsPerPeer: 0,
	maxRequestsPerConnection: 0,
};

export interface HttpServerOptions {
	/** Port 0 selects a free port. */
	readonly listen: { readonly host: string; readonly port: number };
	readonly limits: HttpServerLimits;
	/** Returns true for peers, such as a load balancer, that may open any number of connections. */
	readonly isExemptPeer?: (address: string) => boolean;
	/** TLS; plain HTTP by default. */
	readonly tls?: TlsMaterial | undefined;
	/** Bytes that may wait for a client before the source of its streaming response is paused. 256 KiB by default. */
	readonly maxBufferedBytesPerClient?: number;
	/** Time after which a client that has not taken all waiting bytes is disconnected. One minute by default. */
	readonly stalledWriteMs?: number;
	/** Interval of the check for time limits, and so their precision. One second by default. */
	readonly sweepMs?: number;
	readonly clock: Clock;
	readonly log: Log;
	readonly observe?: RequestObserver;
	/** False to let `node:http` read every request. */
	readonly hasFastPath?: boolean;
	readonly newRequestId: () => string;
	/** Renders the response to a request that is rejected before a handler sees it. Its body must be complete. */
	readonly renderRejection: (rejection: Rejection, requestId: string) => HttpResponse;
}

/** Certificate and key of a TLS server, in PEM. */
export interface TlsMaterial {
	/** The server's certificate, followed by its intermediates. */
	readonly certificate: string;
	readonly privateKey: string;
}

export interface HttpServer extends Listener {
	/** Applies to handshakes from now on; no effect on a plain HTTP server. @throws Error if certificate and key do not match. */
	renewTls(material: TlsMaterial): void;
}

/** A server that can be started and stopped. */
export interface Listener {
	/** @throws the system's error, such as one with code `EADDRINUSE`. */
	start(): Promise<{ host: string; port: number }>;
	/** Accepts no more connections and closes each open one with its next response. */
	drain(): void;
	/** Resolves as soon as no request is in flight. */
	idle(): Promise<void>;
	/** Closes all connections at once. */
	destroy(): void;
	/** Requests whose response is incomplete or whose handler is still running. */
	readonly inFlight: number;
	readonly openConnections: number;
}

/** Concurrent requests on one connection; clients that pipeline send a handful. */
const maxPipelined = 100;

/** Minimum time between log entries about rejected connections. */
const dropLogMs = 10_000;

export function createHttpServer(handler: Handler, options: HttpServerOptions): HttpServer {
	return new NodeHttpServer(handler, options);
}

class NodeHttpServer implements HttpServer {
	inFlight = 0;
	private readonly options: HttpServerOptions;
	private readonly server: Server;
	private readonly tlsServer: TlsServer | undefined;
	private readonly deadlines: DeadlineSweep;
	private readonly connections = new Map<Socket, ServerConnection>();
	private readonly connectionsByPeer = new Map<string, number>();
	private readonly fastPathConnections = new Set<FastPathConnection>();
	private readonly deps: ExchangeDeps;
	private readonly fastPath: FastPathDeps | undefined;
	private idleWaiters: (() => void)[] = [];
	private isDraining = false;
	private lastDropLogMs = Number.NEGATIVE_INFINITY;

	constructor(handler: Handler, options: HttpServerOptions) {
		const { limits, sweepMs = 1000 } = options;
		this.options = options;
		this.deadlines = new DeadlineSweep(options.clock, sweepMs);
		this.deps = {
			handler,
			clock: options.clock,
			log: options.log,
			observe: options.observe,
			deadlines: this.deadlines,
			bodyTimeoutMs: limits.bodyTimeoutMs,
			stalledWriteMs: options.stalledWriteMs ?? 60_000,
			maxBufferedBytes: options.maxBufferedBytesPerClient ?? 262_144,
			isDraining: () => this.isDraining,
			renderRejection: options.renderRejection,
			onFinished: () => this.onFinished(),
		};
		const serverOptions: ServerOptions = {
			maxHeaderSize: limits.maxHeaderBytes,
			headersTimeout: limits.headersTimeoutMs,
			// Ends requests whose body is never read; a body with a reader fails earlier, through its reader.
			requestTimeout: limits.headersTimeoutMs + limits.bodyTimeoutMs + 1000,
			keepAliveTimeout: limits.keepAliveMs,
			connectionsCheckingInterval: sweepMs,
			requireHostHeader: false,
			insecureHTTPParser: false,
			keepAlive: true,
			keepAliveInitialDelay: 60_000,
		};
		this.tlsServer =
			options.tls === undefined
				? undefined
				: createTlsServer({ ...serverOptions, ...secureContextOf(options.tls), handshakeTimeout: limits.headersTimeoutMs });
		this.server = this.tlsServer ?? http.createServer(serverOptions);
		this.server.maxConnections = limits.maxConnections === 0 ? Number.POSITIVE_INFINITY : limits.maxConnections;
		this.fastPath = options.hasFastPath === false ? undefined : this.fastPathDeps();
		this.listen();
	}

	start(): Promise<{ host: string; port: number }> {
		const { host, port } = this.options.listen;
		return new Promise((resolve, reject) => {
			this.server.once('error', reject);
			this.server.listen({ host, port }, () => {
				this.server.off('error', reject);
				this.server.on('error', (error) => this.options.log.error('server error', { error }));
				resolve({ host, port: (this.server.address() as AddressInfo).port });
			});
		});
	}

	drain(): void {
		if (this.isDraining) return;
		this.isDraining = true;
		this.server.close();
		this.closeIdleConnections();
	}

	idle(): Promise<void> {
		if (this.inFlight === 0) return Promise.resolve();
		return new Promise((resolve) => this.idleWaiters.push(resolve));
	}

	destroy(): void {
		this.isDraining = true;
		this.server.close();
		for (const connection of this.connections.values()) connection.socket.destroy();
	}

	renewTls(material: TlsMaterial): void {
		this.tlsServer?.setSecureContext(secureContextOf(material));
	}

	get openConnections(): number {
		return this.connections.size;
	}

	private listen(): void {
		const { server } = this;
		server.on(this.connectionEvent, (socket: Socket) => this.connect(socket));
		server.on('request', (message, response) => this.accept(message, response, false));
		server.on('checkContinue', (message, response) => this.accept(message, response, true));
		server.on('checkExpectation', (message, response) => this.accept(message, response, false, new Rejection('expectation_unknown')));
		server.on('connect', (_message, socket) => this.rejectRaw(socket as Socket, malformed('CONNECT is not supported')));
		server.on('clientError', (error, socket) => this.onClientError(error, socket as Socket));
		server.on('drop', () => this.logDrop({ maxConnections: this.options.limits.maxConnections }));
	}

	private get connectionEvent(): 'connection' | 'secureConnection' {
		return this.tlsServer === undefined ? 'connection' : 'secureConnection';
	}

	private fastPathDeps(): FastPathDeps {
		const { clock, limits } = this.options;
		const { server, deadlines, connectionEvent } = this;
		// `node:http` receives a connection only when it is handed over.
		const [adopt] = server.listeners(connectionEvent) as ((socket: Socket) => void)[];
		if (adopt === undefined) throw new Error('node:http does not listen for connections');
		server.off(connectionEvent, adopt);
		return {
			clock,
			deadlines,
			lines: new ConnectionLines(clock, limits.keepAliveMs),
			maxHeaderBytes: limits.maxHeaderBytes,
			headersTimeoutMs: limits.headersTimeoutMs,
			requestTimeoutMs: limits.headersTimeoutMs + limits.bodyTimeoutMs + 1000,
			// Slightly longer than the announced time, as in `node:http`: the client's next request may be in transit.
			keepAliveMs: limits.keepAliveMs + server.keepAliveTimeoutBuffer,
			accept: (connection, request, response) => this.exchange(connection, request, response, false),
			onDisconnect: (connection) => this.fastPathConnections.delete(connection),
			handOver: (socket) => adopt.call(server, socket),
		};
	}

	private connect(accepted: Socket): void {
		const { fastPath } = this;
		const { socket, reads } = fastPath === undefined ? { socket: accepted, reads: undefined } : adoptSocketWithSharedBuffer(accepted);
		const connection = new ServerConnection(socket, this.deadlines);
		const peer = connection.peerAddress;
		const { maxConnectionsPerPeer } = this.options.limits;
		const open = (this.connectionsByPeer.get(peer) ?? 0) + 1;
		if (maxConnectionsPerPeer > 0 && open > maxConnectionsPerPeer && this.options.isExemptPeer?.(peer) !== true) {
			this.logDrop({ peer, maxConnectionsPerPeer });
			socket.destroy();
			return;
		}
		this.connections.set(socket, connection);
		this.connectionsByPeer.set(peer, open);
		socket.once('close', () => {
			this.connections.delete(socket);
			const left = (this.connectionsByPeer.get(peer) ?? 1) - 1;
			if (left === 0) this.connectionsByPeer.delete(peer);
			else this.connectionsByPeer.set(peer, left);
		});
		if (fastPath !== undefined) this.fastPathConnections.add(new FastPathConnection(connection, reads, fastPath));
	}

	private accept(message: ReceivedRequest, response: ResponseWriter, awaitsContinue: boolean, expectation?: Rejection): void {
		const connection = this.connections.get(message.socket);
		if (connection === undefined) return;
		if (connection.pipelinedCount >= maxPipelined) {
			connection.socket.destroy();
			return;
		}
		if (connection.isClosing) {
			connection.ignoredCount++;
			return;
		}
		this.exchange(connection, message, response, awaitsContinue, expectation);
	}

	private exchange(
		connection: ServerConnection,
		message: ReceivedRequest,
		response: ResponseWriter,
		awaitsContinue: boolean,
		expectation?: Rejection,
	): void {
		this.inFlight++;
		connection.requestCount++;
		const exchange = new ServerExchange(this.deps, connection, message, response, this.options.newRequestId(), awaitsContinue);
		const isLast = message.isLast === true || connection.requestCount === this.options.limits.maxRequestsPerConnection;
		if (isLast) exchange.closeAfterResponse();
		const rejection = this.check(message) ?? expectation;
		if (rejection === undefined) exchange.serve();
		else exchange.reject(rejection);
	}

	private check(message: ReceivedRequest): Rejection | undefined {
		// Already validated: a connection closes after an invalid head.
		if (message.isRepeated === true) return undefined;
		const { method = '', url: target = '', httpVersion, rawHeaders } = message;
		return checkHead({ method, target, httpVersion, rawHeaders });
	}

	private onClientError(error: NodeJS.ErrnoException, socket: Socket): void {
		const connection = this.connections.get(socket);
		const rejection = rejectionOf(error);
		// An end in the middle of a body means that the client disconnected.
		const clientDisconnected = error.code === 'HPE_INVALID_EOF_STATE' && connection?.latest !== undefined;
		if (connection === undefined || rejection === undefined || clientDisconnected) {
			socket.destroy();
			return;
		}
		const { latest } = connection;
		if (latest !== undefined) latest.onMalformed(rejection);
		else if (!connection.isClosing) this.rejectRaw(socket, rejection);
	}

	/** Responds to bytes that never became a request. */
	private rejectRaw(socket: Socket, rejection: Rejection): void {
		const connection = this.connections.get(socket);
		if (connection === undefined || !socket.writable) {
			socket.destroy();
			return;
		}
		connection.isClosing = true;
		const requestId = this.options.newRequestId();
		const bytes = rawResponse(this.options.renderRejection(rejection, requestId), requestId);
		socket.end(bytes);
		connection.closeAfterRest(this.options.clock.monotonicMs());
		const record: RequestLogEntry = {
			requestId,
			method: '',
			target: '',
			status: rejection.status,
			outcome: sentOutcome(rejection.code),
			durationMs: 0,
			requestBytes: 0,
			responseBytes: bytes.length,
			peer: connection.peerAddress,
			code: rejection.code,
			record: {},
		};
		logRequest(this.options.log, record);
		this.options.observe?.(record);
	}

	private onFinished(): void {
		this.inFlight--;
		// The request that just ended may have promised to keep its connection before the drain began.
		if (this.isDraining) setImmediate(() => this.closeIdleConnections());
		if (this.inFlight > 0) return;
		const waiters = this.idleWaiters;
		this.idleWaiters = [];
		for (const resolve of waiters) resolve();
	}

	private closeIdleConnections(): void {
		this.server.closeIdleConnections();
		for (const connection of this.fastPathConnections) if (connection.isIdle) connection.destroy();
	}

	private logDrop(limit: LogFields): void {
		const nowMs = this.options.clock.monotonicMs();
		if (nowMs - this.lastDropLogMs < dropLogMs) return;
		this.lastDropLogMs = nowMs;
		this.options.log.warn('connections rejected', limit);
	}
}

function secureContextOf({ certificate, privateKey }: TlsMaterial): { cert: string; key: string; minVersion: 'TLSv1.2' } {
	return { cert: certificate, key: privateKey, minVersion: 'TLSv1.2' };
}

/** Maps a parser error to a rejection; undefined if there is no client to respond to, or nothing to report. */
function rejectionOf(error: NodeJS.ErrnoException): Rejection | undefined {
	const code = error.code ?? '';
	if (code === 'HPE_HEADER_OVERFLOW') return new Rejection('headers_too_large');
	return code.startsWith('HPE_') ? malformed(error.message) : undefined;
}

function malformed(message: string): Rejection {
	return new Rejection('http_malformed', { message });
}

/**
 * A connection whose requests are read here as long as each has a simple head (`simple-request-head.ts`), because the streams and events of
 * `node:http` cost several times as much. The first request without one hands the connection over to `node:http` for good, before any byte
 * of that request is processed.
 */
import type { Socket } from 'node:net';
import { BytePieces } from '../../../core/byte-pieces.ts';
import type { Clock } from '../../../core/clock.ts';
import { Rejection } from '../../../core/rejection.ts';
import type { DeadlineSweep, Watched } from '../../deadline-sweep.ts';
import type { SocketReads } from '../shared-read-buffer.ts';
import { FastPathRequest } from './fast-path-request.ts';
import { type ConnectionLines, FastPathResponse } from './fast-path-response.ts';
import { HeaderBlockCache } from './header-block-cache.ts';
import type { ServerConnection } from './server-connection.ts';

/** Shared by all connections of one server. */
export interface FastPathDeps {
	readonly clock: Clock;
	readonly deadlines: DeadlineSweep;
	readonly lines: ConnectionLines;
	readonly maxHeaderBytes: number;
	/** From the start of the connection to its first byte. */
	readonly headersTimeoutMs: number;
	/** From a head to the end of its body, on either path. */
	readonly requestTimeoutMs: number;
	/** Idle time between requests. */
	readonly keepAliveMs: number;
	readonly accept: (connection: ServerConnection, request: FastPathRequest, response: FastPathResponse) => void;
	/** Called when the connection has ended or been handed over. */
	readonly onDisconnect: (connection: FastPathConnection) => void;
	/** Hands the connection to `node:http`, starting with bytes that were put back. */
	readonly handOver: (socket: Socket) => void;
}

/** Limit for pipelined bytes that arrive before an earlier response is complete. */
const maxEarlyBytes = 65_536;

export class FastPathConnection implements Watched {
	dueMs: number;
	listIndex = -1;
	private readonly deps: FastPathDeps;
	private readonly connection: ServerConnection;
	private readonly socket: Socket;
	private readonly reads: SocketReads | undefined;
	private request: FastPathRequest | undefined;
	private response: FastPathResponse | undefined;
	private hasResponse = true;
	private readonly heads: HeaderBlockCache;
	private readonly early = new BytePieces();
	private readonly onData = (bytes: Buffer): void => this.read(bytes);
	private readonly onEnd = (): void => this.readEnd();
	private readonly onDrain = (): void => this.response?.drained();
	private readonly onError = (): void => this.destroy();
	private readonly onClose = (): void => this.disconnect();
	private readonly onRead = (): void => this.next();
	private readonly onResponse = (): void => {
		this.hasResponse = true;
		this.next();
	};

	/** @param reads of its socket; undefined if the socket emits `data` events. */
	constructor(connection: ServerConnection, reads: SocketReads | undefined, deps: FastPathDeps) {
		this.connection = connection;
		this.deps = deps;
		this.socket = connection.socket;
		this.reads = reads;
		this.heads = new HeaderBlockCache(deps.maxHeaderBytes);
		this.dueMs = deps.clock.monotonicMs() + deps.headersTimeoutMs;
		deps.deadlines.watch(this);
		if (reads === undefined) this.socket.on('data', this.onData);
		else reads.take = this.onData;
		this.socket.on('end', this.onEnd);
		this.socket.on('drain', this.onDrain);
		this.socket.on('error', this.onError);
		this.socket.on('close', this.onClose);
	}

	/** True if no request is being read or processed. */
	get isIdle(): boolean {
		return this.request === undefined;
	}

	destroy(): void {
		this.socket.destroy();
	}

	onDue(): void {
		this.destroy();
	}

	private read(bytes: Buffer): void {
		const { request } = this;
		if (request === undefined) {
			this.begin(bytes);
			return;
		}
		const read = request.complete ? 0 : request.push(bytes);
		if (this.request !== request) {
			// Its response was complete first, so the last byte of the body ends it: the bytes that follow need not wait.
			if (read < bytes.length) this.begin(bytes.subarray(read));
			return;
		}
		if (request.complete) this.dueMs = Number.POSITIVE_INFINITY;
		if (read < bytes.length) this.keep(bytes.subarray(read));
	}

	/** Buffers bytes of requests that must wait. */
	private keep(bytes: Buffer): void {
		const { connection } = this;
		const { latest } = connection;
		if (connection.isClosing) return;
		if (this.early.length === 0 && latest !== undefined && !beginsLikeRequest(bytes)) {
			// Its response must be the connection's last: later bytes might be taken for the response to another request.
			latest.onMalformed(new Rejection('http_malformed', { message: 'The bytes after the request are not a valid request' }));
			return;
		}
		this.early.push(bytes);
		if (this.early.length > maxEarlyBytes) this.socket.pause();
	}

	private begin(bytes: Buffer): void {
		if (this.connection.isClosing) return;
		const { deps, socket } = this;
		const head = this.heads.read(bytes);
		if (head === undefined) {
			this.handOver(bytes);
			return;
		}
		const request = new FastPathRequest(socket, this.reads, head, this.onRead);
		const response = new FastPathResponse(socket, deps.lines, this.onResponse);
		this.request = request;
		this.response = response;
		this.hasResponse = false;
		const body = bytes.subarray(head.bytes);
		const read = request.push(body);
		this.dueMs = request.complete ? Number.POSITIVE_INFINITY : deps.clock.monotonicMs() + deps.requestTimeoutMs;
		deps.accept(this.connection, request, response);
		if (read < body.length) this.keep(body.subarray(read));
	}

	/** Called once a request has been both read and responded to. */
	private next(): void {
		if (!this.hasResponse || this.request?.readableEnded !== true) return;
		this.request = undefined;
		this.response = undefined;
		this.dueMs = this.deps.clock.monotonicMs() + this.deps.keepAliveMs;
		const { early, socket } = this;
		// A connection that has ended meanwhile receives no response.
		if (early.length === 0 || !socket.writable) return;
		if (socket.isPaused()) socket.resume();
		this.begin(early.take());
	}

	/** A client that closes its side has disconnected, as with `node:http`; bytes already written are still sent. */
	private readEnd(): void {
		if (this.request?.complete === false) this.socket.destroy();
		else this.socket.end();
	}

	private handOver(bytes: Buffer): void {
		const { socket, reads, deps } = this;
		this.disconnect();
		if (reads !== undefined) reads.take = undefined;
		socket.off('data', this.onData).off('end', this.onEnd).off('drain', this.onDrain).off('error', this.onError).off('close', this.onClose);
		socket.pause();
		socket.unshift(bytes);
		deps.handOver(socket);
		socket.resume();
	}

	private disconnect(): void {
		this.deps.deadlines.unwatch(this);
		this.deps.onDisconnect(this);
	}
}

/** True for a method, or for a line end that parsers skip. */
function beginsLikeRequest(bytes: Buffer): boolean {
	const [first = 0] = bytes;
	return (first >= 0x41 && first <= 0x5a) || first === 0x0d || first === 0x0a;
}

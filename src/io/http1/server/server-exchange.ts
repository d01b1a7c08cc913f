/** One request and its response: runs the handler, writes the response at the client's pace, and logs one line at the end. */
import { TLSSocket } from 'node:tls';
import { isByteStream, streamOf } from '../../../core/byte-stream.ts';
import type { Clock } from '../../../core/clock.ts';
import { ConnectionReset, type Handler, type HttpRequest, type HttpResponse } from '../../../core/handler.ts';
import type { Log } from '../../../core/log.ts';
import { Rejection } from '../../../core/rejection.ts';
import type { RequestRecord } from '../../../core/request-record.ts';
import { UpstreamError } from '../../../core/upstream-error.ts';
import type { DeadlineSweep, Watched } from '../../deadline-sweep.ts';
import { logRequest, type Outcome, type RequestLogEntry, type RequestObserver, sentOutcome } from '../../request-log.ts';
import type { ReceivedRequest, ResponseWriter } from './received-request.ts';
import { RequestBody, type RequestBodyHooks } from './request-body.ts';
import { canHaveBody, discard, slices } from './response-body.ts';
import { headerList, plainErrorResponse } from './response-fields.ts';
import { ResponseStream } from './response-stream.ts';
import type { ConnectionUser, ServerConnection } from './server-connection.ts';

/** Shared by all exchanges of one server. */
export interface ExchangeDeps {
	readonly handler: Handler;
	readonly clock: Clock;
	readonly log: Log;
	readonly observe: RequestObserver | undefined;
	readonly deadlines: DeadlineSweep;
	readonly bodyTimeoutMs: number;
	readonly stalledWriteMs: number;
	readonly maxBufferedBytes: number;
	readonly isDraining: () => boolean;
	readonly renderRejection: (rejection: Rejection, requestId: string) => HttpResponse;
	/** Called once the response is over and the handler has settled. */
	readonly onFinished: () => void;
}

/** An unread rest of a body up to this size is read and dropped, so that the connection can be reused. */
const maxDiscardedBytes = 65_536;

/** Time for which an upload is read and dropped after an early response, so that its client gets to read the response. */
const lingerMs = 2000;

export class ServerExchange implements ConnectionUser, RequestBodyHooks, Watched {
	readonly id: string;
	readonly body: RequestBody;
	listIndex = -1;
	private readonly deps: ExchangeDeps;
	private readonly connection: ServerConnection;
	private readonly message: ReceivedRequest;
	private readonly writer: ResponseWriter;
	private readonly arrivedMs: number;
	private bodyDueMs = Number.POSITIVE_INFINITY;
	private endDueMs = Number.POSITIVE_INFINITY;
	private awaitsContinue: boolean;
	private shouldClose = false;
	private isRestUnreadable = false;
	private isOver = false;
	private isClientDisconnected = false;
	private isLingering = false;
	private hasSettled = false;
	private disconnectListeners: (() => void)[] | undefined;
	private response: HttpResponse | undefined;
	private stream: ResponseStream | undefined;
	private code: string | undefined;
	private fullBytes = 0;
	/** End of the request, until it is logged. */
	private pendingRecord: Pick<RequestLogEntry, 'outcome' | 'status' | 'durationMs'> | undefined;

	constructor(
		deps: ExchangeDeps,
		connection: ServerConnection,
		message: ReceivedRequest,
		response: ResponseWriter,
		id: string,
		awaitsContinue: boolean,
	) {
		this.deps = deps;
		this.connection = connection;
		this.message = message;
		this.writer = response;
		this.id = id;
		this.awaitsContinue = awaitsContinue;
		this.arrivedMs = deps.clock.monotonicMs();
		this.body = new RequestBody(message, this);
		if (this.body.announcedLength !== 0) this.bodyDueMs = this.arrivedMs + deps.bodyTimeoutMs;
		response.on('finish', () => this.onFinish());
		connection.add(this);
		deps.deadlines.watch(this);
	}

	get dueMs(): number {
		return Math.min(this.bodyDueMs, this.endDueMs, this.stream?.dueMs ?? Number.POSITIVE_INFINITY);
	}

	serve(): void {
		let promise: Promise<HttpResponse>;
		try {
			promise = this.deps.handler(this.request());
		} catch (cause) {
			promise = Promise.reject(cause);
		}
		promise.then(
			(response) => {
				this.write(response);
				this.settle();
			},
			(cause: unknown) => {
				this.writeError(cause);
				this.settle();
			},
		);
	}

	/** Responds without a handler, because the request violates the HTTP rules of this server. The connection closes. */
	reject(rejection: Rejection): void {
		this.closeAfterResponse();
		this.isRestUnreadable = true;
		this.writeError(rejection);
		this.settle();
	}

	closeAfterResponse(): void {
		this.shouldClose = true;
		this.connection.isClosing = true;
	}

	onBodyStart(): void {
		if (!this.awaitsContinue) return;
		this.awaitsContinue = false;
		// Written out of order, `node:http` would send it after the head of the response. Clients must not wait for it indefinitely.
		if (this.writer.socket !== null) this.writer.writeContinue();
	}

	onTrailers(): void {
		this.closeAfterResponse();
	}

	onMalformed(rejection: Rejection): void {
		this.closeAfterResponse();
		this.isRestUnreadable = true;
		if (!this.body.isComplete) this.body.fail(rejection);
	}

	onConnectionLost(): void {
		if (this.isOver) return;
		if (this.isLingering) {
			this.disconnect('complete');
			return;
		}
		this.isClientDisconnected = true;
		this.code = 'client_closed';
		this.disconnect('client_closed', () => {
			this.body.fail(new Rejection('client_closed'));
			this.stream?.cancel();
			for (const listener of this.disconnectListeners ?? []) {
				try {
					listener();
				} catch (internalError) {
					this.logInternalError(internalError);
				}
			}
		});
	}

	onDue(nowMs: number): void {
		if (nowMs >= this.bodyDueMs) {
			this.bodyDueMs = Number.POSITIVE_INFINITY;
			if (!this.body.isComplete) {
				this.closeAfterResponse();
				this.body.fail(new Rejection('body_timeout'));
			}
		}
		if (nowMs < this.endDueMs && nowMs < (this.stream?.dueMs ?? Number.POSITIVE_INFINITY)) return;
		// An earlier response on the same connection is still being written.
		if (this.writer.socket === null) return;
		if (this.isLingering) this.stopLingering(nowMs);
		else this.cut(new Rejection('client_closed', { message: 'The client did not read its response in time' }), 'destroy');
	}

	/** A literal, not an instance: layers copy it with spread and add to it. */
	private request(): HttpRequest {
		const { message, body } = this;
		const target = message.url ?? '/';
		const mark = target.indexOf('?');
		return {
			id: this.id,
			method: message.method ?? 'GET',
			path: mark === -1 ? target : target.slice(0, mark),
			query: mark === -1 ? '' : target.slice(mark + 1),
			headers: message.headers,
			body,
			announcedLength: body.announcedLength,
			peerAddress: this.connection.peerAddress,
			arrivedMs: this.arrivedMs,
			onClientDisconnect: (listener) => {
				if (this.isClientDisconnected) listener();
				else if (!this.isOver) (this.disconnectListeners ??= []).push(listener);
			},
		};
	}

	private writeError(cause: unknown): void {
		if (cause instanceof ConnectionReset) {
			if (!this.isOver) this.cut(cause, 'reset');
			return;
		}
		this.code = codeOf(cause);
		if (!this.isClientDisconnected && this.code === 'internal_error') this.logInternalError(cause);
		this.write(this.renderError(cause));
	}

	private renderError(cause: unknown): HttpResponse {
		if (cause instanceof UpstreamError) return plainErrorResponse(cause.status, cause.message, cause.code, this.id);
		if (!(cause instanceof Rejection)) return plainErrorResponse(500, 'Internal server error', 'internal_error', this.id);
		try {
			return this.deps.renderRejection(cause, this.id);
		} catch (internalError) {
			this.logInternalError(internalError);
			return plainErrorResponse(cause.status, cause.message, cause.code, this.id);
		}
	}

	private write(response: HttpResponse): void {
		this.response = response;
		if (this.isOver) {
			discard(response.body);
			return;
		}
		try {
			if (isByteStream(response.body)) this.writeStream(response);
			else this.writeFull(response, response.body);
		} catch (internalError) {
			discard(response.body);
			this.logInternalError(internalError);
			this.code = 'internal_error';
			// A head that failed to write was not sent; a stream's source can throw only after its head was sent.
			if (this.writer.headersSent) this.cut(internalError, 'flush');
			else this.write(plainErrorResponse(500, 'Internal server error', 'internal_error', this.id));
		}
	}

	private writeFull(response: HttpResponse, body: Buffer | string | null): void {
		const bytes = typeof body === 'string' ? Buffer.byteLength(body) : (body?.length ?? 0);
		if (body !== null && bytes > this.deps.maxBufferedBytes) {
			const headers = { ...response.headers, 'content-length': String(bytes) };
			this.writeStream({ ...response, headers, body: streamOf(slices(Buffer.isBuffer(body) ? body : Buffer.from(body))) });
			return;
		}
		const hasBody = bytes > 0 && this.message.method !== 'HEAD';
		this.writeHead(response, canHaveBody(response.status) ? bytes : undefined);
		this.endDueMs = this.deps.clock.monotonicMs() + this.deps.stalledWriteMs;
		if (hasBody) this.fullBytes = bytes;
		if (this.shouldLinger) {
			if (hasBody && body !== null) this.writer.write(body);
			else this.writer.flushHeaders();
			this.linger();
		} else if (hasBody && body !== null) {
			this.writer.end(body);
		} else {
			this.writer.end();
		}
	}

	private writeStream(response: HttpResponse): void {
		this.writeHead(response, undefined);
		if (this.message.method === 'HEAD' || !canHaveBody(response.status)) {
			discard(response.body);
			this.writer.end();
			return;
		}
		const { clock, stalledWriteMs, maxBufferedBytes } = this.deps;
		const announced = response.headers['content-length'];
		this.stream = new ResponseStream(this.writer, {
			clock,
			stalledWriteMs,
			maxBufferedBytes,
			contentLength: announced === undefined ? undefined : Number(announced),
			onEnd: () => this.endStream(),
			onBroken: (cause) => this.breakStream(cause),
		});
		if (isByteStream(response.body)) this.stream.start(response.body);
	}

	private endStream(): void {
		this.endDueMs = this.deps.clock.monotonicMs() + this.deps.stalledWriteMs;
		if (this.shouldLinger) this.linger();
		else this.writer.end();
	}

	private breakStream(cause: unknown): void {
		if (this.isOver) return;
		this.code = codeOf(cause);
		if (this.code === 'internal_error') this.logInternalError(cause);
		this.cut(cause, cause instanceof ConnectionReset ? 'reset' : 'flush');
	}

	private writeHead(response: HttpResponse, contentLength: number | undefined): void {
		const rest = this.body.remainingBytes;
		const hasUnreadRest = rest > maxDiscardedBytes || (rest > 0 && this.awaitsContinue);
		if (hasUnreadRest || response.closesConnection === true || this.deps.isDraining()) this.closeAfterResponse();
		const list = headerList({ headers: response.headers, requestId: this.id, contentLength, closesConnection: this.shouldClose });
		this.writer.writeHead(response.status, list);
	}

	/** Closing while the client still sends would reset the connection and lose the response. */
	private get shouldLinger(): boolean {
		return !this.isRestUnreadable && !this.awaitsContinue && this.body.remainingBytes > maxDiscardedBytes;
	}

	/** The response is written except for its end, which closes the connection. The end waits for the rest of the request. */
	private linger(): void {
		const { message, writer: response } = this;
		this.isLingering = true;
		this.endDueMs = this.deps.clock.monotonicMs() + lingerMs;
		message.on('end', () => response.end());
		message.resume();
	}

	private stopLingering(nowMs: number): void {
		this.isLingering = false;
		this.endDueMs = nowMs + this.deps.stalledWriteMs;
		this.message.pause();
		this.writer.end();
	}

	private onFinish(): void {
		if (this.isOver) return;
		this.disconnect('complete');
		if (this.shouldClose) this.connection.closeSoon(this.deps.clock.monotonicMs());
		else if (!this.message.readableEnded) this.message.resume();
	}

	/** Closes the connection with the response incomplete, so that the client can detect it. */
	private cut(cause: unknown, how: 'flush' | 'destroy' | 'reset'): void {
		this.code ??= codeOf(cause);
		this.disconnect('broken', () => {
			this.body.fail(cause);
			this.stream?.cancel();
		});
		const { socket } = this.connection;
		// Node resets plain connections only.
		if (how === 'reset' && !(socket instanceof TLSSocket)) socket.resetAndDestroy();
		else if (how !== 'flush' || this.writer.socket === null) socket.destroy();
		// Deferred, because the pieces of this tick are still on their way to the socket.
		else process.nextTick(() => this.connection.closeSoon(this.deps.clock.monotonicMs()));
	}

	/** @param end ends dependent work. The cost of the request is known only after it. */
	private disconnect(outcome: Outcome, end?: () => void): void {
		if (this.isOver) return;
		this.isOver = true;
		this.deps.deadlines.unwatch(this);
		this.connection.remove(this);
		const status = this.response?.status ?? new Rejection('client_closed').status;
		this.pendingRecord = { outcome, status, durationMs: this.deps.clock.monotonicMs() - this.arrivedMs };
		end?.();
		// Without a response yet, the handler still has to provide the record.
		if (this.response !== undefined) this.notify();
		if (this.hasSettled) this.deps.onFinished();
	}

	private settle(): void {
		this.hasSettled = true;
		if (!this.isOver) return;
		this.notify();
		this.deps.onFinished();
	}

	private notify(): void {
		const { pendingRecord } = this;
		if (pendingRecord === undefined) return;
		this.pendingRecord = undefined;
		const requestRecord: RequestRecord = this.response?.record ?? {};
		const code = requestRecord.code ?? this.code;
		const record: RequestLogEntry = {
			requestId: this.id,
			method: this.message.method ?? '',
			target: this.message.url ?? '',
			...pendingRecord,
			outcome: pendingRecord.outcome === 'complete' ? sentOutcome(code) : pendingRecord.outcome,
			requestBytes: this.body.receivedBytes,
			responseBytes: this.stream?.sentBytes ?? this.fullBytes,
			peer: this.connection.peerAddress,
			code,
			record: requestRecord,
		};
		logRequest(this.deps.log, record);
		this.deps.observe?.(record);
	}

	private logInternalError(cause: unknown): void {
		this.deps.log.error('internal error', { requestId: this.id, error: cause });
	}
}

function codeOf(cause: unknown): string {
	if (cause instanceof ConnectionReset) return 'connection_reset';
	return cause instanceof Rejection || cause instanceof UpstreamError ? cause.code : 'internal_error';
}

/** One request to another server. It pushes the events of its connection into a `ByteSink` and applies a time limit to each phase. */

import { BytePieces } from '../../../core/byte-pieces.ts';
import { isByteStream } from '../../../core/byte-stream.ts';
import type { Clock } from '../../../core/clock.ts';
import type { ByteFlow, ByteSink, ByteStream } from '../../../core/handler.ts';
import type { Log } from '../../../core/log.ts';
import { Rejection } from '../../../core/rejection.ts';
import type { UpstreamRequest, UpstreamResponse, UpstreamTimeouts } from '../../../core/upstream.ts';
import { UpstreamError } from '../../../core/upstream-error.ts';
import type { DeadlineSweep, Watched } from '../../deadline-sweep.ts';
import { SafeSink } from '../../safe-sink.ts';
import { requestHead } from './request-head.ts';
import type { ResponseHead } from './response-head.ts';
import type { RequestCarrier } from './upstream-connection.ts';
import { ConnectTimeout } from './upstream-connector.ts';
import type { ExchangePool, WaitingExchange } from './upstream-pool.ts';

export interface UpstreamExchangeDeps {
	readonly clock: Clock;
	readonly log: Log;
	readonly deadlines: DeadlineSweep;
}

/** Bytes of a body to buffer before a reader starts it. */
const maxBufferedBytes = 65_536;

export class UpstreamExchange implements WaitingExchange, Watched, ByteStream {
	readonly request: UpstreamRequest;
	readonly head: string;
	dueMs: number;
	listIndex = -1;
	private readonly deps: UpstreamExchangeDeps;
	private readonly resolve: (response: UpstreamResponse) => void;
	private readonly reject: (cause: unknown) => void;
	private readonly totalDueMs: number;
	private phase: UpstreamPhase = 'connecting';
	private isOver = false;
	private isRequestEnded = false;
	private isSecondTry = false;
	/** Pool that provides the connection for this request. */
	private pool: ExchangePool | undefined;
	private connection: RequestCarrier | undefined;
	private sink: SafeSink | undefined;
	/** Bytes that arrived before the sink could take them; undefined once pieces go straight to the sink. */
	private buffered: BytePieces | undefined = new BytePieces();
	private failure: unknown;
	private isCancelled = false;
	private isPaused = false;

	/** @throws Error if the request cannot be sent as it is. */
	constructor(
		deps: UpstreamExchangeDeps,
		request: UpstreamRequest,
		resolve: (response: UpstreamResponse) => void,
		reject: (cause: unknown) => void,
	) {
		this.deps = deps;
		this.request = request;
		this.head = requestHead(request);
		this.resolve = resolve;
		this.reject = reject;
		const startMs = deps.clock.monotonicMs();
		this.totalDueMs = startMs + request.timeouts.totalMs;
		this.dueMs = Math.min(startMs + request.timeouts.connectMs, this.totalDueMs);
	}

	/** Sends the request as soon as a connection is available. */
	enter(pool: ExchangePool): void {
		this.deps.deadlines.watch(this);
		this.request.onClientDisconnect((cause) => this.onClientDisconnect(cause));
		if (this.isOver) return;
		this.pool = pool;
		pool.enter(this);
	}

	// Implements `ConnectionUser`.

	onConnection(connection: RequestCarrier): void {
		this.connection = connection;
	}

	onSend(): void {
		this.phase = 'waiting';
		this.request.onSent?.();
		this.expectFirstByte();
	}

	onNoConnection(cause: Error): void {
		this.fail(upstreamErrorOf(cause, this.phase));
	}

	onRequestEnd(): void {
		this.isRequestEnded = true;
		this.expectFirstByte();
	}

	onHead({ status, headers }: ResponseHead): void {
		this.phase = 'answering';
		this.expectNextByte(this.request.timeouts.bodyStartMs);
		this.resolve({ status, headers, body: this });
	}

	onData(piece: Buffer): void {
		if (this.isOver) return;
		// A pause by the reader does not count as silence of the provider, even if pieces still arrive.
		if (!this.isPaused) this.expectNextByte();
		if (this.buffered !== undefined || this.sink === undefined) {
			this.buffered?.push(piece);
			if (this.buffered !== undefined && this.buffered.length >= maxBufferedBytes) this.pause();
		} else if (!this.sink.write(piece)) {
			this.pause();
		}
	}

	onComplete(): void {
		if (this.isOver) return;
		this.leave();
		if (this.buffered === undefined) this.sink?.end();
	}

	onFailure(cause: Error, wasSent: boolean): void {
		const { pool } = this;
		if (wasSent || pool === undefined || this.isSecondTry || !isRepeatable(this.request)) {
			this.fail(upstreamErrorOf(cause, this.phase));
			return;
		}
		// A server may close idle connections at any time, often all at once, so the retry uses a fresh connection.
		this.isSecondTry = true;
		this.phase = 'connecting';
		this.connection = undefined;
		this.dueMs = Math.min(this.deps.clock.monotonicMs() + this.request.timeouts.connectMs, this.totalDueMs);
		pool.reenter(this);
	}

	// Implements `ByteStream`.

	start(reader: ByteSink): ByteFlow {
		if (this.sink !== undefined || this.buffered === undefined) throw new Error('A response body can be started only once');
		this.sink = new SafeSink(reader, () => this.cancel());
		queueMicrotask(() => this.deliverBuffered());
		return {
			// Deferred, because the caller may still be handling a piece.
			resume: () => queueMicrotask(() => this.resume()),
			cancel: () => this.cancel(),
		};
	}

	takeAll(): Buffer | undefined {
		const { buffered } = this;
		if (this.sink !== undefined || buffered === undefined || !this.isOver || this.failure !== undefined || this.isCancelled) {
			return undefined;
		}
		this.buffered = undefined;
		return buffered.take();
	}

	// Implements `Watched`.

	onDue(): void {
		const { phase, totalDueMs, dueMs } = this;
		this.fail(timeoutError(phase, dueMs >= totalDueMs, this.request.timeouts));
	}

	private onClientDisconnect(cause: Rejection | UpstreamError = new Rejection('client_closed')): void {
		if (this.phase !== 'answering') this.fail(cause);
	}

	/** Starts only after the whole request has been handed to the connection. */
	private expectFirstByte(): void {
		if (this.isOver || this.phase !== 'waiting') return;
		const firstByteMs = this.isRequestEnded ? this.request.timeouts.firstByteMs : Number.POSITIVE_INFINITY;
		this.dueMs = Math.min(this.deps.clock.monotonicMs() + firstByteMs, this.totalDueMs);
	}

	private expectNextByte(withinMs = this.request.timeouts.idleMs): void {
		this.dueMs = Math.min(this.deps.clock.monotonicMs() + withinMs, this.totalDueMs);
	}

	private pause(): void {
		if (this.isOver) return;
		this.isPaused = true;
		this.connection?.pause();
		// The gateway has paused reading, so silence is not the provider's.
		this.dueMs = this.totalDueMs;
	}

	private resume(): void {
		if (this.buffered !== undefined) {
			this.deliverBuffered();
		} else if (!this.isOver && this.isPaused) {
			this.isPaused = false;
			this.expectNextByte();
			this.connection?.resume();
		}
	}

	/** Delivers buffered bytes to the sink at its pace, or all at once if the response has failed. */
	private deliverBuffered(): void {
		const { sink, buffered } = this;
		if (sink === undefined || buffered === undefined || this.isCancelled) return;
		if (buffered.length > 0) {
			const isFlowing = sink.write(buffered.take());
			if (this.isCancelled || (!isFlowing && this.failure === undefined)) return;
		}
		this.buffered = undefined;
		if (this.failure !== undefined) sink.fail(this.failure);
		else if (this.isOver) sink.end();
		else this.resume();
	}

	private cancel(): void {
		this.isCancelled = true;
		this.buffered = undefined;
		if (this.isOver) return;
		const { connection } = this;
		this.leave();
		connection?.destroy();
	}

	private fail(cause: unknown): void {
		if (this.isOver) return;
		const { phase, connection, sink } = this;
		this.leave();
		connection?.destroy();
		if (!isOurs(cause) && this.request.isExpectedToFail !== true) this.log(cause);
		if (phase !== 'answering') {
			this.reject(cause);
		} else if (this.buffered === undefined) {
			sink?.fail(cause);
		} else {
			this.failure = cause;
			this.deliverBuffered();
		}
	}

	private leave(): void {
		this.isOver = true;
		this.pool?.leave(this);
		this.pool = undefined;
		// The connection continues with other requests.
		this.connection = undefined;
		this.deps.deadlines.unwatch(this);
	}

	private log(cause: unknown): void {
		const code = cause instanceof UpstreamError ? cause.code : 'internal_error';
		this.deps.log.warn('upstream failed', { origin: this.request.origin, code, phase: this.phase, reason: causeText(cause) });
	}
}

/** A streamed body may already be partly consumed. */
function isRepeatable({ body }: UpstreamRequest): boolean {
	return !isByteStream(body);
}

/** Not written yet; written and waiting for a head; or receiving a body. */
type UpstreamPhase = 'connecting' | 'waiting' | 'answering';

/** True if this side ended the request, which says nothing about the server. */
function isOurs(cause: unknown): boolean {
	return cause instanceof Rejection || (cause instanceof UpstreamError && !cause.code.startsWith('provider_'));
}

/** Maps an error of a connection or of the system to a `UpstreamError`. Errors caused by this side pass unchanged. */
function upstreamErrorOf(error: Error, phase: UpstreamPhase): Error {
	if (isOurs(error)) return error;
	if (error instanceof ConnectTimeout) return new UpstreamError('provider_connect_timeout', { cause: error });
	return new UpstreamError(phase === 'answering' ? 'provider_disconnected' : 'provider_unreachable', { cause: error });
}

/** Maps the phase to the time limit that was exceeded. */
function timeoutError(phase: UpstreamPhase, isTotal: boolean, timeouts: UpstreamTimeouts): UpstreamError {
	const { connectMs, firstByteMs, idleMs, totalMs, settings } = timeouts;
	if (isTotal) {
		return new UpstreamError('provider_total_timeout', {
			message: `The response was not complete within ${totalMs} ms${named(settings?.total)}`,
		});
	}
	switch (phase) {
		case 'connecting':
			return new UpstreamError('provider_connect_timeout', {
				message: `No connection to the provider within ${connectMs} ms${named(settings?.connect)}`,
			});
		case 'waiting':
			return new UpstreamError('provider_first_byte_timeout', {
				message: `The provider sent no first byte within ${firstByteMs} ms${named(settings?.firstByte)}`,
			});
		case 'answering':
			return new UpstreamError('provider_idle_timeout', { message: `The provider sent nothing for ${idleMs} ms${named(settings?.idle)}` });
	}
}

function named(setting: string | undefined): string {
	return setting === undefined ? '' : ` (\`${setting}\`)`;
}

/** For a log line: the innermost words, which name the system's error. */
function causeText(cause: unknown): string {
	let innermost = cause;
	while (innermost instanceof Error && innermost.cause instanceof Error) innermost = innermost.cause;
	if (!(innermost instanceof Error)) return String(innermost);
	const { code } = innermost as NodeJS.ErrnoException;
	return code === undefined || innermost.message.includes(code) ? innermost.message : `${code}: ${innermost.message}`;
}

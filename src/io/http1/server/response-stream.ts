/**
 * A streaming response at its client's pace. The source is paused while too many bytes wait, and a client that does not keep up is
 * disconnected.
 */
import type { Clock } from '../../../core/clock.ts';
import type { ByteFlow, ByteSink, ByteStream } from '../../../core/handler.ts';
import { SafeSink } from '../../safe-sink.ts';
import type { ResponseWriter } from './received-request.ts';

export interface ResponseStreamOptions {
	readonly clock: Clock;
	/** Time after which a client that has not taken all waiting bytes is disconnected. Taking single bytes does not extend it. */
	readonly stalledWriteMs: number;
	/** Bytes that may wait for the client before the source is paused. */
	readonly maxBufferedBytes: number;
	/** Length that the head announced; undefined if the body is chunked. */
	readonly contentLength: number | undefined;
	readonly onEnd: () => void;
	readonly onBroken: (cause: unknown) => void;
}

export class ResponseStream implements ByteSink {
	/** Time at which the client is disconnected, in monotonic milliseconds. */
	dueMs = Number.POSITIVE_INFINITY;
	sentBytes = 0;
	private readonly response: ResponseWriter;
	private readonly options: ResponseStreamOptions;
	private flow: ByteFlow | undefined;
	private isOver = false;
	private isPaused = false;
	private hasDrainListener = false;

	constructor(response: ResponseWriter, options: ResponseStreamOptions) {
		this.response = response;
		this.options = options;
	}

	start(source: ByteStream): void {
		this.flow = source.start(new SafeSink(this, () => this.flow?.cancel()));
		// The head must not wait for a first piece that is not there yet; with a piece, both leave in one write.
		setImmediate(() => {
			if (!this.isOver && this.sentBytes === 0) this.response.flushHeaders();
		});
	}

	write(chunk: Buffer): boolean {
		if (this.isOver) return false;
		this.sentBytes += chunk.length;
		const { contentLength, maxBufferedBytes } = this.options;
		if (contentLength !== undefined && this.sentBytes > contentLength) {
			this.cancel();
			this.options.onBroken(new Error(`A response body is longer than its content-length of ${contentLength}`));
			return false;
		}
		if (this.response.write(chunk)) return true;
		this.awaitDrain();
		this.isPaused = this.response.writableLength >= maxBufferedBytes;
		return !this.isPaused;
	}

	end(): void {
		if (this.isOver) return;
		this.isOver = true;
		const { contentLength } = this.options;
		// A normal end would let the client take the next response for the rest of this one.
		if (contentLength !== undefined && this.sentBytes !== contentLength) {
			this.options.onBroken(new Error(`A body of ${this.sentBytes} bytes is shorter than its content-length of ${contentLength}`));
		} else {
			this.options.onEnd();
		}
	}

	fail(cause: unknown): void {
		if (this.isOver) return;
		this.isOver = true;
		this.options.onBroken(cause);
	}

	/** Cancels the source at once when the client has disconnected or was disconnected. */
	cancel(): void {
		if (this.isOver) return;
		this.isOver = true;
		this.flow?.cancel();
	}

	private awaitDrain(): void {
		if (this.dueMs === Number.POSITIVE_INFINITY) this.dueMs = this.options.clock.monotonicMs() + this.options.stalledWriteMs;
		if (this.hasDrainListener) return;
		this.hasDrainListener = true;
		this.response.on('drain', () => this.onDrain());
	}

	private onDrain(): void {
		this.dueMs = Number.POSITIVE_INFINITY;
		if (!this.isPaused) return;
		this.isPaused = false;
		if (!this.isOver) this.flow?.resume();
	}
}

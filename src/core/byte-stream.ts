/** Basic operations on byte streams: create one from bytes, read one to its end, wrap one. */
import { BytePieces } from './byte-pieces.ts';
import type { ByteFlow, ByteSink, ByteStream, HttpBody } from './handler.ts';
import { Rejection } from './rejection.ts';

/** Creates a stream of these pieces and delivers each in a separate tick. */
export function streamOf(pieces: Iterable<Buffer>): ByteStream {
	return {
		start(sink) {
			const iterator = pieces[Symbol.iterator]();
			let isCancelled = false;
			let isScheduled = false;
			const turn = (): void => {
				isScheduled = false;
				if (isCancelled) return;
				const next = iterator.next();
				if (next.done === true) {
					isCancelled = true;
					sink.end();
				} else if (sink.write(next.value)) {
					schedule();
				}
			};
			const schedule = (): void => {
				if (isScheduled || isCancelled) return;
				isScheduled = true;
				setImmediate(turn);
			};
			schedule();
			return {
				resume: schedule,
				cancel() {
					isCancelled = true;
				},
			};
		},
	};
}

/** Returns the body if it has arrived completely; undefined for any other stream. @throws `Rejection` with code `body_too_large`. */
export function takeAll(stream: ByteStream, maxBytes: number): Buffer | undefined {
	const whole = stream.takeAll?.();
	if (whole !== undefined && whole.length > maxBytes) throw new Rejection('body_too_large', { message: tooLargeMessage(maxBytes) });
	return whole;
}

/**
 * Reads a stream to its end.
 * @param announcedBytes its length, if known: memory for a large body is then allocated once.
 * @throws `Rejection` with code `body_too_large` as soon as more than `maxBytes` have arrived; the stream's own failure.
 */
export function readAll(stream: ByteStream, maxBytes: number, announcedBytes?: number): Promise<Buffer> {
	return new Promise((resolve, reject) => {
		gather(stream, maxBytes, resolve, reject, announcedBytes);
	});
}

/** Reads like `readAll`, but can be cancelled. After a cancellation neither `resolve` nor `reject` is called. */
export function gather(
	stream: ByteStream,
	maxBytes: number,
	resolve: (whole: Buffer) => void,
	reject: (cause: unknown) => void,
	announcedBytes = 0,
): ByteFlow {
	const whole = new Gathering(maxBytes, announcedBytes, resolve, reject);
	whole.flow = stream.start(whole);
	return whole.flow;
}

class Gathering implements ByteSink {
	flow: ByteFlow | undefined;
	readonly #maxBytes: number;
	readonly #resolve: (whole: Buffer) => void;
	readonly #reject: (cause: unknown) => void;
	readonly #pieces: BytePieces;

	constructor(maxBytes: number, announcedBytes: number, resolve: (whole: Buffer) => void, reject: (cause: unknown) => void) {
		this.#maxBytes = maxBytes;
		this.#resolve = resolve;
		this.#reject = reject;
		this.#pieces = new BytePieces(announcedBytes);
	}

	get copiesChunks(): boolean {
		return this.#pieces.copies;
	}

	write(chunk: Buffer): boolean {
		this.#pieces.push(chunk);
		if (this.#pieces.length <= this.#maxBytes) return true;
		this.flow?.cancel();
		this.#reject(new Rejection('body_too_large', { message: tooLargeMessage(this.#maxBytes) }));
		return false;
	}

	end(): void {
		this.#resolve(this.#pieces.take());
	}

	fail(cause: unknown): void {
		this.#reject(cause);
	}
}

export function tooLargeMessage(maxBytes: number): string {
	return `The request body is larger than ${maxBytes} bytes (\`gateway.max_body_bytes\`): send a smaller body`;
}

/** Wraps the sink of a stream. `wrap` is called once, when the stream starts. */
export function wrapStream(source: ByteStream, wrap: (sink: ByteSink, flow: ByteFlow) => ByteSink & Partial<ByteFlow>): ByteStream {
	return {
		start(sink) {
			let inner: ByteFlow | undefined;
			const sourceFlow: ByteFlow = {
				resume: () => inner?.resume(),
				cancel: () => inner?.cancel(),
			};
			const wrapped = wrap(sink, sourceFlow);
			inner = source.start(wrapped);
			return {
				resume: wrapped.resume?.bind(wrapped) ?? sourceFlow.resume,
				cancel: wrapped.cancel?.bind(wrapped) ?? sourceFlow.cancel,
			};
		},
	};
}

/** Cancels a stream that no sink will read, so that its source stops. */
export function discardStream(stream: ByteStream): void {
	stream.start(emptySink).cancel();
}

/** Ignores everything that is written to it. */
export const emptySink: ByteSink = { write: () => false, end: () => undefined, fail: () => undefined };

export function isByteStream(body: HttpBody | readonly Buffer[]): body is ByteStream {
	return body !== null && typeof body === 'object' && 'start' in body;
}

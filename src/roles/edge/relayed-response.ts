/** A gateway's response that the edge relays to the client. The edge does not parse events; it only detects the boundaries between them. */
import { wrapStream } from '../../core/byte-stream.ts';
import type { ByteFlow, ByteSink, ByteStream } from '../../core/handler.ts';
import { Rejection } from '../../core/rejection.ts';
import { type Listed, SwapRemoveList } from '../../core/swap-remove-list.ts';
import { UpstreamError } from '../../core/upstream-error.ts';
import type { ClientDialect, ErrorEnding } from '../../wire/dialects/dialect.ts';

/** Open responses. They outlive configurations, so that all of them can be ended together. */
export class InFlightResponses extends SwapRemoveList<RelayedResponse> {
	/** Ends streams with an error event of their format. */
	endAll(): void {
		this.each((response) => response.endWith(shuttingDown));
	}
}

const shuttingDown = new Rejection('draining', { message: 'The edge is shutting down: retry', retryAfterSeconds: 1 });

export class RelayedResponse implements Listed {
	listIndex = -1;
	readonly body: ByteStream;
	/** Format of an event stream; undefined for any other response, which can only be cut. */
	readonly #format: ClientDialect | undefined;
	readonly #ending: ErrorEnding | undefined;
	readonly #requestId: string;
	readonly #ended: (cause: unknown) => void;
	#sink: ByteSink | undefined;
	#flow: ByteFlow | undefined;
	#isOver = false;
	/** Last bytes that were relayed. */
	#tail = '';
	#owed: Rejection | undefined;

	/** @param ended called once, with the error if the response failed. */
	constructor(body: ByteStream, format: ClientDialect | undefined, requestId: string, ended: (cause: unknown) => void) {
		this.#format = format;
		this.#ending = format?.followToError?.();
		this.#requestId = requestId;
		this.#ended = ended;
		this.body = wrapStream(body, (sink, flow) => {
			this.#sink = sink;
			this.#flow = flow;
			return {
				write: (chunk) => this.#write(chunk),
				end: () => this.#finish(undefined, () => sink.end()),
				fail: (cause) =>
					this.#finish(cause, () =>
						this.#fail(cause instanceof UpstreamError ? new UpstreamError('gateway_unreachable', { cause }) : cause),
					),
				cancel: () => this.#finish(undefined, () => flow.cancel()),
			};
		});
	}

	/** Ends the stream with an error event of its format, at the next event boundary. */
	endWith(reason: Rejection): void {
		if (this.#isOver || this.#format === undefined) return;
		this.#owed = reason;
		if (this.#isBetweenEvents) this.#payOwed(reason);
	}

	/** True before the first byte, and after an empty line with any kind of line ends. */
	get #isBetweenEvents(): boolean {
		const tail = this.#tail;
		return tail === '' || tail.endsWith('\n\n') || tail === '\n\r\n' || tail.endsWith('\r\r');
	}

	#write(chunk: Buffer): boolean {
		if (this.#format !== undefined) this.#tail = (this.#tail + chunk.toString('latin1', Math.max(0, chunk.length - 3))).slice(-3);
		this.#ending?.push(chunk);
		const isFlowing = this.#sink?.write(chunk) ?? false;
		if (this.#owed !== undefined && this.#isBetweenEvents) this.#payOwed(this.#owed);
		return isFlowing;
	}

	#payOwed(reason: Rejection): void {
		this.#finish(undefined, () => {
			this.#flow?.cancel();
			this.#fail(reason);
		});
	}

	#fail(cause: unknown): void {
		const sink = this.#sink;
		if (sink === undefined) return;
		if (this.#format !== undefined && this.#isBetweenEvents && (cause instanceof Rejection || cause instanceof UpstreamError)) {
			const { status, code, message } = cause;
			const error = { status, code, message, requestId: this.#requestId };
			sink.write(this.#ending === undefined ? this.#format.renderErrorEvent(error) : Buffer.concat(this.#ending.end(error)));
			sink.end();
		} else {
			sink.fail(cause);
		}
	}

	#finish(cause: unknown, last: () => void): void {
		if (this.#isOver) return;
		this.#isOver = true;
		this.#ended(cause);
		last();
	}
}

/** Adapts one request to undici's dispatch handler. */
import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { isByteStream } from '../../../core/byte-stream.ts';
import type { ByteFlow, ByteStream } from '../../../core/handler.ts';
import { MalformedResponse, responseHeadOf } from '../client/response-head.ts';
import type { RequestCarrier } from '../client/upstream-connection.ts';
import type { WaitingExchange } from '../client/upstream-pool.ts';

/** A connection that can be paused. */
export interface PausableConnection {
	pauseReading(): void;
	resumeReading(): void;
}

export interface ExchangeListener {
	/** @throws Error for a status that the server did not send. */
	checkStatus(status: number): void;
	/** Called once when undici has finished with the request, whatever its result. */
	onEnd(): void;
}

export class UndiciExchange implements Dispatcher.DispatchHandler, RequestCarrier {
	readonly #exchange: WaitingExchange;
	readonly #listener: ExchangeListener;
	#connection: PausableConnection | undefined;
	#controller: Dispatcher.DispatchController | undefined;
	#isOver = false;
	#hasEnded = false;

	constructor(exchange: WaitingExchange, listener: ExchangeListener) {
		this.#exchange = exchange;
		this.#listener = listener;
	}

	/** Must be called before the request starts. */
	assign(connection: PausableConnection): void {
		this.#connection = connection;
	}

	/** Returns the body as undici takes it. The header fields must contain its length, because undici does not add up pieces. */
	body(): Buffer | Readable | null {
		const { body } = this.#exchange.request;
		if (isByteStream(body)) return new PushedBody(body, () => this.#exchange.onRequestEnd());
		return body === null || Buffer.isBuffer(body) ? body : Readable.from(body);
	}

	// Implements `Dispatcher.DispatchHandler`.

	onRequestStart(controller: Dispatcher.DispatchController): void {
		// Undici has no other way to withdraw a request that waits for a connection. No byte was sent yet.
		if (this.#isOver) throw new Error('The request was abandoned');
		this.#controller = controller;
		const { body } = this.#exchange.request;
		this.#exchange.onConnection(this);
		this.#exchange.onSend();
		if (!isByteStream(body)) this.#exchange.onRequestEnd();
	}

	onResponseStart(controller: Dispatcher.DispatchController, status: number): void {
		// An interim response: the final one follows.
		if (this.#isOver || status < 200) return;
		this.#listener.checkStatus(status);
		this.#exchange.onHead(responseHeadOf(status, rawFieldsOf(controller), this.#exchange.request.method));
	}

	onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
		if (!this.#isOver) this.#exchange.onData(chunk);
	}

	onResponseEnd(): void {
		this.#notifyEnd();
		if (this.#isOver) return;
		this.#isOver = true;
		this.#connection?.resumeReading();
		this.#exchange.onComplete();
	}

	onResponseError(_controller: Dispatcher.DispatchController | undefined, error: Error): void {
		this.#notifyEnd();
		if (this.#isOver) return;
		this.#isOver = true;
		if (this.#controller === undefined) this.#exchange.onNoConnection(error);
		else this.#exchange.onFailure(error, true);
	}

	/** Undici reports an error thrown by an end listener as a second end. */
	#notifyEnd(): void {
		if (this.#hasEnded) return;
		this.#hasEnded = true;
		this.#listener.onEnd();
	}

	// Implements `RequestCarrier`.

	pause(): void {
		this.#connection?.pauseReading();
	}

	resume(): void {
		this.#connection?.resumeReading();
	}

	destroy(): void {
		this.#isOver = true;
		this.#connection = undefined;
		this.#controller?.abort(new Error('The response was abandoned'));
	}

	/** The request has ended or no longer waits. */
	leave(): void {
		if (this.#controller === undefined) this.#isOver = true;
	}
}

function rawFieldsOf({ rawHeaders }: Dispatcher.DispatchController): string[] {
	if (!Array.isArray(rawHeaders)) throw new MalformedResponse('The response header fields are invalid');
	return rawHeaders.map((field: Buffer | string) => (typeof field === 'string' ? field : field.toString('latin1')));
}

/** A pushed body as a stream of the runtime, started by the first read. */
class PushedBody extends Readable {
	readonly #body: ByteStream;
	#flow: ByteFlow | undefined;

	constructor(body: ByteStream, onEnd: () => void) {
		super();
		this.#body = body;
		this.once('end', onEnd);
	}

	override _read(): void {
		if (this.#flow !== undefined) {
			this.#flow.resume();
			return;
		}
		this.#flow = this.#body.start({
			write: (chunk) => chunk.length === 0 || this.push(chunk),
			end: () => this.push(null),
			fail: (cause) => this.destroy(cause instanceof Error ? cause : new Error(String(cause))),
		});
	}

	override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
		this.#flow?.cancel();
		callback(error);
	}
}

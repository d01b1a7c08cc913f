/** Body of a received request as a `ByteStream`: pushed from the socket, paused when its reader asks. */
import type { ByteFlow, ByteSink, ByteStream } from '../../../core/handler.ts';
import { Rejection } from '../../../core/rejection.ts';
import { SafeSink } from '../../safe-sink.ts';
import type { ReceivedRequest } from './received-request.ts';

export interface RequestBodyHooks {
	/** Called when a reader starts: time to respond to `expect: 100-continue`. */
	onBodyStart(): void;
	/** Called when header fields follow the body. Its reader fails, and the connection must not be reused. */
	onTrailers(): void;
}

export class RequestBody implements ByteStream {
	/** Length as in `HttpRequest.announcedLength`. */
	readonly announcedLength: number | undefined;
	receivedBytes = 0;
	private readonly message: ReceivedRequest;
	private readonly hooks: RequestBodyHooks;
	private sink: SafeSink | undefined;
	private failure: unknown;
	private isSettled = false;

	constructor(message: ReceivedRequest, hooks: RequestBodyHooks) {
		this.message = message;
		this.hooks = hooks;
		this.announcedLength = announcedLength(message);
	}

	start(reader: ByteSink): ByteFlow {
		if (this.sink !== undefined || this.isSettled) throw new Error('A request body can be started only once');
		const sink = new SafeSink(reader, () => this.cancel());
		this.sink = sink;
		if (this.failure !== undefined) queueMicrotask(() => this.settle(() => sink.fail(this.failure)));
		else if (this.announcedLength === 0) queueMicrotask(() => this.settle(() => sink.end()));
		else this.listen(sink);
		return { resume: () => void (this.isSettled || this.message.resume()), cancel: () => this.cancel() };
	}

	takeAll(): Buffer | undefined {
		if (this.sink !== undefined || this.isSettled || this.failure !== undefined) return undefined;
		const whole = this.message.takeAll?.();
		if (whole === undefined) return undefined;
		this.receivedBytes = whole.length;
		this.isSettled = true;
		return whole;
	}

	/** True once every byte of the body has been parsed, read or not. */
	get isComplete(): boolean {
		return this.announcedLength === 0 || this.message.complete;
	}

	/** Bytes that may still arrive; `Infinity` if the client announced no length. */
	get remainingBytes(): number {
		if (this.isComplete) return 0;
		if (this.announcedLength === undefined) return Number.POSITIVE_INFINITY;
		return this.announcedLength - this.receivedBytes - this.message.readableLength;
	}

	/** Fails the reader, now or when it starts. No effect once the body has ended. */
	fail(cause: unknown): void {
		if (this.isSettled || this.failure !== undefined) return;
		this.failure = cause;
		const { sink } = this;
		if (sink !== undefined) this.settle(() => sink.fail(cause));
	}

	private listen(sink: SafeSink): void {
		const { message } = this;
		this.hooks.onBodyStart();
		if (sink.copiesChunks === true) message.lendChunks?.();
		message.on('data', (chunk: Buffer) => {
			this.receivedBytes += chunk.length;
			if (!this.isSettled && !sink.write(chunk) && !this.isSettled) message.pause();
		});
		message.on('end', () => {
			if (this.isSettled) return;
			// Trailer fields could contradict the validated head, and no supported client sends any.
			if (message.rawTrailers.length === 0) {
				this.settle(() => sink.end());
				return;
			}
			this.hooks.onTrailers();
			this.fail(new Rejection('http_malformed', { message: 'Header fields after the body are not accepted' }));
		});
	}

	private cancel(): void {
		this.settle(() => this.message.pause());
	}

	private settle(last: () => void): void {
		if (this.isSettled) return;
		this.isSettled = true;
		last();
	}
}

function announcedLength(message: ReceivedRequest): number | undefined {
	const { headers, announcedLength: known } = message;
	if (known !== undefined) return known;
	if (headers['transfer-encoding'] !== undefined) return undefined;
	return headers['content-length'] === undefined ? 0 : Number(headers['content-length']);
}

/** One connection to a server: HTTP/1.1, one request at a time. */

import type { Socket } from 'node:net';
import { isByteStream } from '../../../core/byte-stream.ts';
import type { Clock } from '../../../core/clock.ts';
import type { ByteFlow, ByteStream } from '../../../core/handler.ts';
import { flushOnTick, type TickListener } from '../../../core/tick-flush.ts';
import type { UpstreamRequest } from '../../../core/upstream.ts';
import type { DeadlineSweep, Watched } from '../../deadline-sweep.ts';
import { untilTickFlush, writeInOne } from '../tick-writes.ts';
import type { ResponseHead } from './response-head.ts';
import { type ResponseListener, ResponseReader } from './response-reader.ts';
import type { Opened } from './upstream-connector.ts';

/** Control that a request has over its connection. */
export interface RequestCarrier {
	pause(): void;
	resume(): void;
	/** Closes the connection at once; its user receives no further events. */
	destroy(): void;
}

/** User of a connection: one request and the events for it. */
export interface ConnectionUser {
	readonly request: UpstreamRequest;
	/** Everything before the body. */
	readonly head: string;
	onConnection(connection: RequestCarrier): void;
	/** Called when sending begins. */
	onSend(): void;
	/** Called when the whole request has been handed to the connection. */
	onRequestEnd(): void;
	onHead(head: ResponseHead): void;
	onData(piece: Buffer): void;
	onComplete(): void;
	/** Called when the connection fails before the response is complete. @param wasSent false if no byte of the request was sent. */
	onFailure(cause: Error, wasSent: boolean): void;
}

export interface ConnectionDeps {
	readonly clock: Clock;
	readonly deadlines: DeadlineSweep;
	/** Called when the connection becomes idle. */
	readonly onRest: (connection: UpstreamConnection) => void;
	readonly onClose: (connection: UpstreamConnection) => void;
}

/** A server may close an idle connection while a request is written to it, so the client closes it earlier. */
const maxRestMs = 4000;
const maxAnnouncedRestMs = 60_000;
const marginMs = 2000;

const lastChunk = '0\r\n\r\n';

export class UpstreamConnection implements RequestCarrier, ResponseListener, TickListener, Watched {
	/** Time at which an idle connection expires. */
	dueMs = Number.POSITIVE_INFINITY;
	listIndex = -1;
	readonly #socket: Socket;
	readonly #deps: ConnectionDeps;
	readonly #reader = new ResponseReader(this);
	#user: ConnectionUser | undefined;
	/** Flow of a streamed request body, until its end. */
	#bodyFlow: ByteFlow | undefined;
	#isSending = false;
	#hasResponse = false;
	/** False during the tick in which the request is written: bytes and an end that arrive in it do not concern this request. */
	#wasSent = true;
	#restMs = maxRestMs;
	#error: Error | undefined;

	constructor({ socket, reads }: Opened, deps: ConnectionDeps) {
		this.#socket = socket;
		this.#deps = deps;
		deps.deadlines.watch(this);
		reads.take = (bytes) => this.#read(bytes);
		socket.on('drain', () => this.#bodyFlow?.resume());
		socket.on('end', () => this.#readEnd());
		socket.on('error', (error) => {
			this.#error ??= error;
		});
		socket.on('close', () => this.#close());
	}

	get isUsable(): boolean {
		return this.#user === undefined && this.#socket.writable;
	}

	/** May be called only while the connection is idle. */
	send(user: ConnectionUser): void {
		const { head, request } = user;
		this.#user = user;
		this.#hasResponse = false;
		this.dueMs = Number.POSITIVE_INFINITY;
		this.#reader.expect(request.method);
		this.#wasSent = false;
		try {
			user.onConnection(this);
			this.#write(head, request.body, user);
			flushOnTick(this);
		} catch (internalError) {
			this.fail(asError(internalError));
		}
	}

	#write(head: string, body: UpstreamRequest['body'], user: ConnectionUser): void {
		if (Buffer.isBuffer(body)) {
			writeInOne(this.#socket, head, body, '');
			user.onRequestEnd();
			return;
		}
		const socket = untilTickFlush(this.#socket);
		socket.write(head, 'latin1');
		if (isByteStream(body)) {
			this.#sendStream(body, user);
			return;
		}
		for (const piece of body ?? []) socket.write(piece);
		user.onRequestEnd();
	}

	pause(): void {
		this.#socket.pause();
	}

	resume(): void {
		this.#socket.resume();
	}

	destroy(): void {
		this.#detachUser();
		this.#reader.stop();
		this.#socket.destroy();
	}

	// Implements `ResponseListener`.

	onHead(head: ResponseHead): void {
		this.#restMs = Math.min(maxAnnouncedRestMs, head.restMs === undefined ? maxRestMs : head.restMs - marginMs);
		this.#user?.onHead(head);
	}

	onData(piece: Buffer): void {
		this.#user?.onData(piece);
	}

	onComplete(): void {
		this.#hasResponse = true;
	}

	// Implements `TickListener`.

	onTickFlush(): void {
		if (this.#user === undefined) return;
		this.#wasSent = true;
		try {
			this.#user.onSend();
		} catch (internalError) {
			this.fail(asError(internalError));
		}
	}

	// Implements `Watched`.

	onDue(): void {
		this.destroy();
	}

	#read(bytes: Buffer): void {
		if (this.#user !== undefined && !this.#wasSent) {
			this.fail(new Error('Bytes arrived before the request was sent'));
			return;
		}
		try {
			this.#reader.read(bytes);
		} catch (cause) {
			this.#finishResponse(false);
			this.fail(asError(cause));
			return;
		}
		// Deferred until all received bytes are read: surplus bytes must not be taken for the response to another request.
		this.#finishResponse(true);
	}

	#readEnd(): void {
		if (this.#reader.end()) this.#finishResponse(false);
		else this.fail(new Error('The server closed the connection'));
	}

	/** @param goesOn false if nothing more can be read. */
	#finishResponse(goesOn: boolean): void {
		if (!this.#hasResponse) return;
		this.#hasResponse = false;
		const user = this.#user;
		// If the response came before the end of the request, the server still expects the rest.
		const isSent = !this.#isSending && this.#socket.writableLength === 0;
		const rests = goesOn && isSent && this.#restMs > 0 && this.#socket.writable;
		this.#detachUser();
		if (!rests) this.destroy();
		user?.onComplete();
		if (!rests) return;
		if (this.#socket.isPaused()) this.#socket.resume();
		this.dueMs = this.#deps.clock.monotonicMs() + this.#restMs;
		this.#deps.onRest(this);
	}

	/** Closes the connection at once and reports the cause to its user. */
	fail(cause: Error): void {
		const user = this.#user;
		this.destroy();
		user?.onFailure(cause, this.#wasSent);
	}

	#close(): void {
		this.#deps.deadlines.unwatch(this);
		this.fail(this.#error ?? new Error('The server closed the connection'));
		this.#deps.onClose(this);
	}

	#detachUser(): void {
		this.#user = undefined;
		this.#bodyFlow?.cancel();
		this.#bodyFlow = undefined;
		this.#isSending = false;
	}

	#sendStream(body: ByteStream, user: ConnectionUser): void {
		const socket = this.#socket;
		const announced = user.request.headers['content-length'];
		let missingBytes = announced === undefined ? Number.POSITIVE_INFINITY : Number(announced);
		this.#isSending = true;
		this.#bodyFlow = body.start({
			write: (piece) => {
				missingBytes -= piece.length;
				if (piece.length === 0) return true;
				if (announced === undefined) return writeInOne(socket, `${piece.length.toString(16)}\r\n`, piece, '\r\n');
				if (missingBytes >= 0) return writeInOne(socket, '', piece, '');
				// The server would take surplus bytes for another request.
				this.fail(new Error('The request body is longer than its header says'));
				return false;
			},
			end: () => {
				this.#bodyFlow = undefined;
				if (announced === undefined) {
					untilTickFlush(socket).write(lastChunk, 'latin1');
				} else if (missingBytes > 0) {
					this.fail(new Error('The request body is shorter than its header says'));
					return;
				}
				this.#isSending = false;
				user.onRequestEnd();
			},
			fail: (cause) => {
				this.#bodyFlow = undefined;
				this.fail(asError(cause));
			},
		});
	}
}

function asError(cause: unknown): Error {
	return cause instanceof Error ? cause : new Error(String(cause));
}

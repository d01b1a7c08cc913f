import type { Socket } from 'node:net';
import { BytePieces } from '../../../core/byte-pieces.ts';
import type { SocketReads } from '../shared-read-buffer.ts';
import type { ReadHead } from './header-block-cache.ts';
import type { ReceivedRequest } from './received-request.ts';

/** Unread bytes to buffer before the client is paused. */
const maxBufferedBytes = 65_536;

/** A request whose body has the length that its head announces. */
export class FastPathRequest implements ReceivedRequest {
	readonly socket: Socket;
	readonly method: string;
	readonly url: string;
	readonly httpVersion = '1.1';
	readonly rawHeaders: readonly string[];
	readonly headers: Readonly<Record<string, string>>;
	readonly announcedLength: number;
	readonly isRepeated: boolean;
	readonly isLast: boolean;
	readonly rawTrailers: readonly string[] = [];
	readableEnded = false;
	private readonly onEnded: () => void;
	private readonly reads: SocketReads | undefined;
	private missingBytes: number;
	private readonly buffered = new BytePieces();
	private isFlowing = false;
	private isPausing = false;
	private isLending = false;
	private dataListener: ((chunk: Buffer) => void) | undefined;
	private endListeners: (() => void)[] | undefined;

	/**
	 * @param reads of the socket, if it emits no `data` events
	 * @param onEnded called once the whole body has been read or dropped
	 */
	constructor(socket: Socket, reads: SocketReads | undefined, head: ReadHead, onEnded: () => void) {
		this.socket = socket;
		this.reads = reads;
		this.method = head.method;
		this.url = head.url;
		this.rawHeaders = head.rawHeaders;
		this.headers = head.headers;
		this.announcedLength = head.contentLength;
		this.isRepeated = head.isRepeated === true;
		this.isLast = head.headers['connection']?.toLowerCase() === 'close';
		this.missingBytes = head.contentLength;
		this.onEnded = onEnded;
	}

	get complete(): boolean {
		return this.missingBytes === 0;
	}

	get readableLength(): number {
		return this.buffered.length;
	}

	/** @returns the number of bytes that belong to this request. */
	push(bytes: Buffer): number {
		const own = bytes.length > this.missingBytes ? bytes.subarray(0, this.missingBytes) : bytes;
		this.missingBytes -= own.length;
		if (own.length > 0 && this.isFlowing && this.buffered.length === 0) {
			this.dataListener?.(own);
		} else if (own.length > 0) {
			this.buffered.push(own);
		}
		this.endIfRead();
		// With a complete body, only the end of the connection is still of interest, so reading continues.
		if (!this.complete && this.readableLength > maxBufferedBytes && !this.isPausing) {
			this.isPausing = true;
			this.socket.pause();
		}
		return own.length;
	}

	takeAll(): Buffer | undefined {
		if (!this.complete || this.isFlowing || this.dataListener !== undefined || this.readableEnded) return undefined;
		const whole = this.buffered.take();
		this.isFlowing = true;
		this.resumeSocket();
		this.endIfRead();
		return whole;
	}

	on(event: 'data', listener: (chunk: Buffer) => void): void;
	on(event: 'end', listener: () => void): void;
	on(event: 'data' | 'end', listener: (chunk: Buffer) => void): void {
		if (event === 'data') {
			this.dataListener = listener;
			this.resume();
		} else {
			(this.endListeners ??= []).push(listener as () => void);
		}
	}

	lendChunks(): void {
		this.isLending = true;
	}

	pause(): void {
		this.isFlowing = false;
		this.lend(0);
	}

	resume(): void {
		if (this.isFlowing) return;
		this.isFlowing = true;
		// Deferred, so that `resume` never calls its caller.
		queueMicrotask(() => this.flow());
	}

	private flow(): void {
		// Delivered as one piece: shifting tens of thousands of tiny pieces off an array would block the process for seconds.
		if (this.isFlowing && this.buffered.length > 0) {
			const all = this.buffered.take();
			this.dataListener?.(all);
		}
		if (this.isFlowing) this.lend(this.missingBytes);
		this.resumeSocket();
		this.endIfRead();
	}

	/** Lends only bytes that go straight to the listener. */
	private lend(bytes: number): void {
		if (this.isLending && this.reads !== undefined) this.reads.lentBytes = bytes;
	}

	private resumeSocket(): void {
		if (!this.isPausing || this.readableLength > maxBufferedBytes) return;
		this.isPausing = false;
		this.socket.resume();
	}

	private endIfRead(): void {
		if (!this.isFlowing || this.missingBytes > 0 || this.buffered.length > 0 || this.readableEnded) return;
		this.readableEnded = true;
		for (const listener of this.endListeners ?? []) listener();
		this.onEnded();
	}
}

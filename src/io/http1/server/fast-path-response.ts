import type { Socket } from 'node:net';
import type { Clock } from '../../../core/clock.ts';
import { http } from '../../node-http.ts';
import { fieldLine } from '../field-line.ts';
import { untilTickFlush, writeInOne } from '../tick-writes.ts';
import type { ResponseWriter } from './received-request.ts';
import { canHaveBody } from './response-body.ts';

const { STATUS_CODES } = http;

const lastChunk = '0\r\n\r\n';

/** Header lines that the connection adds to each head. */
export class ConnectionLines {
	/** Header line that keeps the connection open. */
	readonly keepAlive: string;
	private readonly clock: Clock;
	private second = 0;
	private dateLine = '';

	constructor(clock: Clock, keepAliveMs: number) {
		this.clock = clock;
		this.keepAlive = `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(keepAliveMs / 1000)}\r\n`;
	}

	/** Formatted once a second. */
	get date(): string {
		const second = Math.floor(this.clock.nowMs() / 1000);
		if (second !== this.second) {
			this.second = second;
			this.dateLine = `Date: ${new Date(second * 1000).toUTCString()}\r\n`;
		}
		return this.dateLine;
	}
}

/** Writes one response to an HTTP/1.1 request other than HEAD, each piece in one write. */
export class FastPathResponse implements ResponseWriter {
	readonly socket: Socket;
	headersSent = false;
	private readonly lines: ConnectionLines;
	private readonly onFinished: () => void;
	/** The head, written together with the first piece. */
	private head = '';
	private isChunked = false;
	private canHaveBody = true;
	private hasEnded = false;
	private finishListener: (() => void) | undefined;
	private drainListener: (() => void) | undefined;

	/** @param onFinished called after the listener of `finish`. */
	constructor(socket: Socket, lines: ConnectionLines, onFinished: () => void) {
		this.socket = socket;
		this.lines = lines;
		this.onFinished = onFinished;
	}

	get writableLength(): number {
		return this.socket.writableLength;
	}

	on(event: 'finish' | 'drain', listener: () => void): void {
		if (event === 'finish') this.finishListener = listener;
		else this.drainListener = listener;
	}

	/** Called when the connection accepts more bytes. */
	drained(): void {
		if (!this.hasEnded) this.drainListener?.();
	}

	writeHead(status: number, headers: string[]): void {
		if (this.headersSent) throw new Error('The response header block has been written');
		if (!Number.isInteger(status) || status < 100 || status > 999) throw new Error(`The status ${status} is invalid`);
		let fields = '';
		let isFramed = false;
		let isDated = false;
		let closes = false;
		for (let index = 0; index + 1 < headers.length; index += 2) {
			const name = headers[index] as string;
			const value = headers[index + 1] as string;
			fields += fieldLine(name, value);
			if (name === 'content-length') isFramed = true;
			else if (name === 'connection') closes = true;
			else if (name === 'date') isDated = true;
		}
		this.headersSent = true;
		this.canHaveBody = canHaveBody(status);
		this.isChunked = !isFramed && this.canHaveBody;
		const framing = this.isChunked ? 'Transfer-Encoding: chunked\r\n' : '';
		const date = isDated ? '' : this.lines.date;
		const connection = closes ? '' : this.lines.keepAlive;
		this.head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Unknown'}\r\n${fields}${date}${connection}${framing}\r\n`;
	}

	flushHeaders(): void {
		if (this.head === '') return;
		untilTickFlush(this.socket).write(this.head, 'latin1');
		this.head = '';
	}

	/** Does nothing: requests with `expect: 100-continue` do not take the fast path. */
	writeContinue(): void {}

	write(chunk: Buffer | string): boolean {
		const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
		if (bytes.length === 0 || !this.canHaveBody) return true;
		const before = this.isChunked ? `${this.head}${bytes.length.toString(16)}\r\n` : this.head;
		this.head = '';
		return writeInOne(this.socket, before, bytes, this.isChunked ? '\r\n' : '');
	}

	end(chunk?: Buffer | string): void {
		if (this.hasEnded) return;
		const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
		if (bytes !== undefined && this.isChunked) this.write(bytes);
		this.hasEnded = true;
		const onTaken = (error?: Error | null): void => {
			if (error !== undefined && error !== null) return;
			this.finishListener?.();
			this.onFinished();
		};
		const { head } = this;
		this.head = '';
		if (this.isChunked) untilTickFlush(this.socket).write(head + lastChunk, 'latin1', onTaken);
		else if (bytes !== undefined && this.canHaveBody) writeInOne(this.socket, head, bytes, '', onTaken);
		else untilTickFlush(this.socket).write(head, 'latin1', onTaken);
	}
}

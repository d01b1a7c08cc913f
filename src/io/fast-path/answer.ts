import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../../core/clock.ts';
import { mayHaveBody } from '../answer-body.ts';
import type { AnswerWriter } from './received.ts';

/** Up to here copying a piece next to its head or frame costs less than a write of several parts. */
const maxCopiedBytes = 16_384;

const fieldName = /^[\w!#$%&'*+.^`|~-]+$/;
const unwritable = /[^\t\x20-\x7e\x80-\xff]/;

const lastChunk = '0\r\n\r\n';

/** Lines that the connection adds to each head. */
export class ConnectionLines {
	/** Says that the connection goes on. */
	readonly keepAlive: string;
	private readonly clock: Clock;
	private second = 0;
	private dateLine = '';

	constructor(clock: Clock, keepAliveMs: number) {
		this.clock = clock;
		this.keepAlive = `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(keepAliveMs / 1000)}\r\n`;
	}

	/** Made anew once a second. */
	get date(): string {
		const second = Math.floor(this.clock.nowMs() / 1000);
		if (second !== this.second) {
			this.second = second;
			this.dateLine = `Date: ${new Date(second * 1000).toUTCString()}\r\n`;
		}
		return this.dateLine;
	}
}

/** Writes one answer to a request of HTTP/1.1 other than HEAD, each piece in one write. */
export class FastPathAnswer implements AnswerWriter {
	readonly socket: Socket;
	headersSent = false;
	private readonly lines: ConnectionLines;
	private readonly onFinished: () => void;
	/** Written with the first piece. */
	private head = '';
	private isChunked = false;
	private mayHaveBody = true;
	private hasEnded = false;
	private isCorked = false;
	private finishListener: (() => void) | undefined;
	private drainListener: (() => void) | undefined;

	/** @param onFinished told after the listener of `finish`. */
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

	/** The connection takes more. */
	drained(): void {
		if (!this.hasEnded) this.drainListener?.();
	}

	writeHead(status: number, headers: string[]): void {
		if (this.headersSent) throw new Error('The head has been written');
		if (!Number.isInteger(status) || status < 100 || status > 999) throw new Error(`The status ${status} cannot be written`);
		let fields = '';
		let isFramed = false;
		let isDated = false;
		let closes = false;
		for (let index = 0; index + 1 < headers.length; index += 2) {
			const name = headers[index] as string;
			const value = headers[index + 1] as string;
			if (!fieldName.test(name) || unwritable.test(value)) throw new Error(`The header ${JSON.stringify(name)} cannot be written`);
			fields += `${name}: ${value}\r\n`;
			if (name === 'content-length') isFramed = true;
			else if (name === 'connection') closes = true;
			else if (name === 'date') isDated = true;
		}
		this.headersSent = true;
		this.mayHaveBody = mayHaveBody(status);
		this.isChunked = !isFramed && this.mayHaveBody;
		const framing = this.isChunked ? 'Transfer-Encoding: chunked\r\n' : '';
		const date = isDated ? '' : this.lines.date;
		const connection = closes ? '' : this.lines.keepAlive;
		this.head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Unknown'}\r\n${fields}${date}${connection}${framing}\r\n`;
	}

	flushHeaders(): void {
		if (this.head === '') return;
		this.socket.write(this.head, 'latin1');
		this.head = '';
	}

	/** Requests that await it are not read here. */
	writeContinue(): void {}

	write(chunk: Buffer | string): boolean {
		const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
		if (bytes.length === 0 || !this.mayHaveBody) return true;
		this.gather();
		const before = this.isChunked ? `${this.head}${bytes.length.toString(16)}\r\n` : this.head;
		this.head = '';
		return this.writeParts(before, bytes, this.isChunked ? '\r\n' : '');
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
		if (this.isChunked) this.socket.write(head + lastChunk, 'latin1', onTaken);
		else if (bytes !== undefined && this.mayHaveBody) this.writeParts(head, bytes, '', onTaken);
		else this.socket.write(head, 'latin1', onTaken);
	}

	private writeParts(before: string, bytes: Buffer, after: string, onTaken?: (error?: Error | null) => void): boolean {
		const { socket } = this;
		const length = before.length + bytes.length + after.length;
		if (length <= maxCopiedBytes) {
			const whole = Buffer.allocUnsafe(length);
			whole.write(before, 'latin1');
			bytes.copy(whole, before.length);
			if (after !== '') whole.write(after, length - after.length, 'latin1');
			return socket.write(whole, onTaken);
		}
		socket.cork();
		if (before !== '') socket.write(before, 'latin1');
		let takesMore = socket.write(bytes, after === '' ? onTaken : undefined);
		if (after !== '') takesMore = socket.write(after, 'latin1', onTaken);
		socket.uncork();
		return takesMore;
	}

	/** What is written in one turn leaves in one write. */
	private gather(): void {
		if (this.isCorked) return;
		this.isCorked = true;
		this.socket.cork();
		process.nextTick(() => {
			this.isCorked = false;
			this.socket.uncork();
		});
	}
}

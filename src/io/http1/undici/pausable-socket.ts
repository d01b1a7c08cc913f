/**
 * A socket that stops reading in place of undici's parser. A paused parser throws an uncaught error when a response ends with its
 * connection (decision 0017).
 */
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';

type Written = { readonly chunk: Buffer; readonly encoding: BufferEncoding };

export class PausableSocket extends Duplex {
	readonly #socket: Socket;
	#isPaused = false;
	/** End of the connection that occurred while the socket was paused. */
	#ended: { readonly error: Error | undefined } | undefined;

	constructor(socket: Socket) {
		super({ allowHalfOpen: false, readableHighWaterMark: 65_536, decodeStrings: true });
		this.#socket = socket;
		socket.on('data', (chunk: Buffer) => {
			if (!this.push(chunk)) socket.pause();
		});
		socket.on('end', () => this.push(null));
		socket.on('error', (error) => this.#end(error));
		socket.on('close', () => this.#end(undefined));
		socket.pause();
	}

	pauseReading(): void {
		this.#isPaused = true;
		this.#socket.pause();
	}

	resumeReading(): void {
		if (!this.#isPaused) return;
		this.#isPaused = false;
		if (this.#ended === undefined) this.#socket.resume();
		else this.#end(this.#ended.error);
	}

	/** Called by undici, which lets a process exit while its connections are idle. */
	ref(): this {
		this.#socket.ref();
		return this;
	}

	unref(): this {
		this.#socket.unref();
		return this;
	}

	override _read(): void {
		if (!this.#isPaused) this.#socket.resume();
	}

	override _write(chunk: Buffer, encoding: BufferEncoding, callback: (error?: Error | null) => void): void {
		this.#socket.write(chunk, encoding, callback);
	}

	override _writev(written: Written[], callback: (error?: Error | null) => void): void {
		this.#socket.cork();
		for (const [index, { chunk, encoding }] of written.entries()) {
			this.#socket.write(chunk, encoding, index === written.length - 1 ? callback : undefined);
		}
		this.#socket.uncork();
	}

	override _final(callback: (error?: Error | null) => void): void {
		this.#socket.end(() => callback());
	}

	override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
		this.#socket.destroy();
		callback(error);
	}

	#end(error: Error | undefined): void {
		if (this.#isPaused) {
			this.#ended ??= { error };
		} else if (error !== undefined) {
			// Undici takes ECONNRESET for the end of a response that lasts until the connection ends: a truncated body would pass as complete.
			this.destroy(new Error('The connection has failed', { cause: error }));
		} else if (!this.readableEnded) {
			// Bytes read before the end must still be delivered.
			if (this.readable && !this.#socket.readableEnded) this.destroy();
			else this.once('end', () => this.destroy());
		} else {
			this.destroy();
		}
	}
}

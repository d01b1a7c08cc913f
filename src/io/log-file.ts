/**
 * Writes log lines to a file or a pipe, off the request's path, one write at a time. The destination may be slow, full or gone. Both the
 * memory for waiting lines and the time spent on them at process exit are bounded.
 */
import { mkdirSync, openSync, write, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Clock, Timer } from '../core/clock.ts';

const batchBytes = 65_536;
/** Maximum UTF-8 bytes for one UTF-16 code unit of a string. */
const maxBytesPerCharacter = 3;
const batchMs = 200;

/** Bytes that may wait for a slow reader; further lines are dropped and counted. */
const maxWaitingBytes = 16 * 1024 * 1024;

/** Delay before the next write to a reader that took nothing, and number of such attempts at exit. */
const retryMs = 20;
const maxFlushRetries = 50;

const lineFeed = 0x0a;

/** A value that no thread ever notifies, for a synchronous sleep. */
const nap = new Int32Array(new SharedArrayBuffer(4));

export class LogFile {
	readonly #clock: Clock;
	readonly #descriptor: number;
	readonly #onDropped: (count: number) => void;
	// Bytes from the start: strings that wait for the next write would have to be copied by the young generation's collector.
	readonly #batch = Buffer.allocUnsafeSlow(batchBytes);
	#batched = 0;
	#timer: Timer | undefined;
	/** Whole lines in each buffer, except the first, whose beginning may have been written already. */
	readonly #waiting: Buffer[] = [];
	#waitingBytes = 0;
	#isFirstBegun = false;
	/** True if the last written byte is not a line end. */
	#isWithinLine = false;
	#isWriting = false;
	/** Timer for the next attempt after the reader took nothing; no write is running meanwhile. */
	#retry: Timer | undefined;
	#isFlushing = false;
	#isTaking = true;
	#dropped = 0;

	/**
	 * @param target a file's path or descriptor.
	 * @param onDropped receives the number of lost lines, once there is space again.
	 */
	constructor(target: string | number, clock: Clock, onDropped: (count: number) => void) {
		this.#clock = clock;
		this.#onDropped = onDropped;
		process.once('exit', () => this.#writeAtExit());
		// Opened synchronously, so that `flush` works from the first line on.
		if (typeof target === 'string') mkdirSync(dirname(target), { recursive: true });
		this.#descriptor = typeof target === 'string' ? openSync(target, 'a') : unblocked(target);
	}

	write(line: string): void {
		const maxBytes = line.length * maxBytesPerCharacter;
		if (this.#batched + maxBytes > batchBytes) this.#handOver();
		if (maxBytes > batchBytes) {
			this.#enqueue(Buffer.from(line));
			this.#handOver();
			return;
		}
		this.#batched += this.#batch.write(line, this.#batched);
		this.#timer ??= this.#clock.after(batchMs, () => this.#handOver());
	}

	/** Writes waiting lines. Lines that are not taken within a second are dropped, because the process must exit. */
	flush(): void {
		this.#endBatch();
		this.#stopRetrying();
		this.#isFlushing = true;
		// A running write ends by itself; the rest follows it.
		if (!this.#isWriting) this.#writeNow();
	}

	#handOver(): void {
		this.#endBatch();
		if (!this.#isWriting) this.#writeNext();
	}

	#endBatch(): void {
		this.#timer?.cancel();
		this.#timer = undefined;
		if (this.#batched === 0) return;
		this.#enqueue(Buffer.from(this.#batch.subarray(0, this.#batched)));
		this.#batched = 0;
	}

	#enqueue(bytes: Buffer): void {
		if (this.#waitingBytes + bytes.length > maxWaitingBytes) {
			this.#dropped += countLines(bytes);
			return;
		}
		this.#waiting.push(bytes);
		this.#waitingBytes += bytes.length;
	}

	#writeNext(): void {
		const bytes = this.#first();
		if (bytes === undefined) {
			this.#reportDropped();
			return;
		}
		this.#isWriting = true;
		write(this.#descriptor, bytes, 0, bytes.length, null, (error, written) => {
			if (!isBusy(error)) this.#afterWrite(error === null ? written : undefined);
			else if (this.#isFlushing) this.#afterWrite(0);
			else this.#retry = this.#clock.after(retryMs, () => this.#afterWrite(0));
		});
	}

	/** @param written bytes; undefined if these lines cannot be written. */
	#afterWrite(written: number | undefined): void {
		this.#isWriting = false;
		this.#retry = undefined;
		this.#advance(written);
		if (this.#isFlushing) this.#writeNow();
		else this.#writeNext();
	}

	/** The timer may never fire: timers do not keep the process alive. */
	#stopRetrying(): void {
		if (this.#retry === undefined) return;
		this.#retry.cancel();
		this.#retry = undefined;
		this.#isWriting = false;
	}

	/**
	 * A write that is still running has no callback any more. The runtime waits for the thread that performs it, so it counts as done and is
	 * not repeated, after a moment for it to finish first. If the threads are too busy for that, its lines follow the others; if the pipe has
	 * just become full, they are lost.
	 */
	#writeAtExit(): void {
		this.#endBatch();
		this.#stopRetrying();
		if (this.#isWriting) {
			Atomics.wait(nap, 0, 0, retryMs);
			this.#advance(this.#waiting[0]?.length);
		}
		this.#writeNow();
	}

	#writeNow(): void {
		let retries = 0;
		for (let bytes = this.#first(); bytes !== undefined; bytes = this.#first()) {
			try {
				this.#advance(writeSync(this.#descriptor, bytes));
			} catch (error) {
				if (isBusy(error) && retries < maxFlushRetries) {
					retries++;
					Atomics.wait(nap, 0, 0, retryMs);
				} else {
					this.#advance(undefined);
				}
			}
		}
		this.#isFlushing = false;
		this.#reportDropped();
	}

	#first(): Buffer | undefined {
		const [bytes] = this.#waiting;
		if (bytes === undefined || this.#isFirstBegun || !this.#isWithinLine) return bytes;
		// A full disk took a part of a line: the next line must not continue it.
		this.#isFirstBegun = true;
		this.#waitingBytes++;
		return (this.#waiting[0] = Buffer.concat([Buffer.of(lineFeed), bytes]));
	}

	#advance(written: number | undefined): void {
		const bytes = this.#waiting.shift();
		if (bytes === undefined) return;
		this.#isTaking = written !== undefined;
		const rest = written === undefined ? bytes.length : bytes.length - written;
		this.#waitingBytes -= written ?? bytes.length;
		if (written !== undefined && written > 0) this.#isWithinLine = bytes[written - 1] !== lineFeed;
		if (written === undefined) this.#dropped += countLines(bytes);
		else if (rest > 0) this.#waiting.unshift(bytes.subarray(written));
		this.#isFirstBegun = written !== undefined && rest > 0 && (written > 0 || this.#isFirstBegun);
	}

	#reportDropped(): void {
		if (this.#dropped === 0 || !this.#isTaking) return;
		const count = this.#dropped;
		this.#dropped = 0;
		this.#onDropped(count);
	}
}

/** Makes standard output non-blocking if it is a pipe: accessing the stream does that. */
function unblocked(descriptor: number): number {
	return descriptor === process.stdout.fd ? process.stdout.fd : descriptor;
}

function isBusy(error: unknown): boolean {
	return error instanceof Error && 'code' in error && error.code === 'EAGAIN';
}

/** A line end at the beginning belongs to an earlier line. */
function countLines(bytes: Buffer): number {
	let count = 0;
	for (let at = bytes.indexOf(lineFeed, 1); at !== -1; at = bytes.indexOf(lineFeed, at + 1)) count++;
	return count;
}

/**
 * Log lines on their way to a file or a pipe, off the request's path, one write at a time. What takes them may be slow, full or
 * gone: the memory that waits for it is bounded, and so is the time that the end of the process spends on it.
 */
import { mkdirSync, openSync, write, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Clock, Timer } from '../core/clock.ts';

const batchBytes = 65_536;
/** What a character of a string takes at most as UTF-8. */
const mostBytesPerCharacter = 3;
const batchMs = 200;

/** What may wait for a reader that does not keep up; lines beyond are dropped and counted. */
const maxWaitingBytes = 16 * 1024 * 1024;

/** A reader that took nothing is asked again after so long, and at the end so often. */
const retryMs = 20;
const mostFlushRetries = 50;

const lineFeed = 0x0a;

/** Nobody wakes who waits for it: a way to sleep. */
const nap = new Int32Array(new SharedArrayBuffer(4));

export class LogFile {
	readonly #clock: Clock;
	readonly #descriptor: number;
	readonly #onDropped: (count: number) => void;
	// Bytes at once: strings that wait for the next write are what the collector of young memory would have to copy.
	readonly #batch = Buffer.allocUnsafeSlow(batchBytes);
	#batched = 0;
	#timer: Timer | undefined;
	/** Whole lines each, but for the first, whose beginning may have been written. */
	readonly #waiting: Buffer[] = [];
	#waitingBytes = 0;
	#isFirstBegun = false;
	/** What was written last does not end a line. */
	#isWithinLine = false;
	#isWriting = false;
	/** Until then nothing is being written: the reader took nothing. */
	#retry: Timer | undefined;
	#isFlushing = false;
	#isTaking = true;
	#dropped = 0;

	/**
	 * @param target a file's path or descriptor.
	 * @param onDropped told how many lines were lost, once there is room again.
	 */
	constructor(target: string | number, clock: Clock, onDropped: (count: number) => void) {
		this.#clock = clock;
		this.#onDropped = onDropped;
		process.once('exit', () => this.#writeAtExit());
		// Opened here and now, so that `flush` works from the first line on.
		if (typeof target === 'string') mkdirSync(dirname(target), { recursive: true });
		this.#descriptor = typeof target === 'string' ? openSync(target, 'a') : unblocked(target);
	}

	write(line: string): void {
		const mostBytes = line.length * mostBytesPerCharacter;
		if (this.#batched + mostBytes > batchBytes) this.#handOver();
		if (mostBytes > batchBytes) {
			this.#enqueue(Buffer.from(line));
			this.#handOver();
			return;
		}
		this.#batched += this.#batch.write(line, this.#batched);
		this.#timer ??= this.#clock.after(batchMs, () => this.#handOver());
	}

	/** Writes what waits. What nobody takes within a second is dropped: this is for the end of the process, which must come. */
	flush(): void {
		this.#endBatch();
		this.#stopRetrying();
		this.#isFlushing = true;
		// A write that is under way ends by itself; the rest follows it then.
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

	/** @param written bytes; undefined when these lines cannot be written. */
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
	 * Nobody is told any more how a write ends that is under way. The runtime does not end before its thread has made it, so it counts as
	 * done and is not made twice, after a moment for it to come first. Its lines follow the others if the threads are too busy for that,
	 * and are lost if the pipe has just become full.
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
				if (isBusy(error) && retries < mostFlushRetries) {
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
		// A full disk took a part of a line: the next one must not continue it.
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

/** Standard output as a pipe that returns at once when it is full: asking for the stream makes it one. */
function unblocked(descriptor: number): number {
	return descriptor === process.stdout.fd ? process.stdout.fd : descriptor;
}

function isBusy(error: unknown): boolean {
	return error instanceof Error && 'code' in error && error.code === 'EAGAIN';
}

/** A line end at the beginning is of a line before. */
function countLines(bytes: Buffer): number {
	let count = 0;
	for (let at = bytes.indexOf(lineFeed, 1); at !== -1; at = bytes.indexOf(lineFeed, at + 1)) count++;
	return count;
}

/**
 * Log lines on their way to a file, off the request's path. Pino's destination writes; its formatter takes three times as
 * long as `JSON.stringify`, and its own buffer measures all that it holds again with every line.
 */
import { mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { pino } from 'pino';
import type { Clock, Timer } from '../core/clock.ts';

const batchCharacters = 65_536;
const batchMs = 200;

/** What may wait for a reader that does not keep up; lines beyond are dropped and counted. */
const maxWaitingBytes = 16 * 1024 * 1024;

export class LogFile {
	readonly #clock: Clock;
	readonly #file: ReturnType<typeof pino.destination>;
	#batch = '';
	#timer: Timer | undefined;
	#dropped = 0;

	/**
	 * @param target a file's path or descriptor.
	 * @param onDropped told how many lines were lost, once there is room again.
	 */
	constructor(target: string | number, clock: Clock, onDropped: (count: number) => void) {
		this.#clock = clock;
		// Before the destination's own, which writes what it was given and closes.
		process.once('exit', () => this.#handOver());
		// Opened here and now, so that `flush` works from the first line on.
		if (typeof target === 'string') mkdirSync(dirname(target), { recursive: true });
		const dest = typeof target === 'string' ? openSync(target, 'a') : target;
		this.#file = pino.destination({ dest, sync: false, maxLength: maxWaitingBytes, maxWrite: 2 * batchCharacters });
		// A reader of our output that went away, as in `tollgate start | head`, is no reason to stop serving.
		this.#file.on('error', () => undefined);
		this.#file.on('drop', (batch: string) => {
			this.#dropped += batch.split('\n').length - 1;
		});
		this.#file.on('drain', () => {
			if (this.#dropped === 0) return;
			const count = this.#dropped;
			this.#dropped = 0;
			onDropped(count);
		});
	}

	write(line: string): void {
		this.#batch += line;
		if (this.#batch.length >= batchCharacters) this.#handOver();
		else this.#timer ??= this.#clock.after(batchMs, () => this.#handOver());
	}

	/** Writes what waits, at once. */
	flush(): void {
		this.#handOver();
		this.#file.flushSync();
	}

	#handOver(): void {
		this.#timer?.cancel();
		this.#timer = undefined;
		if (this.#batch === '') return;
		this.#file.write(this.#batch);
		this.#batch = '';
	}
}

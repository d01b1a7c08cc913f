import type { Clock, Timer } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import type { RecordedRequest, RequestRecordsHealth } from '../contracts/request-records.ts';
import { BlockBuilder, type BuiltBlock } from './block-builder.ts';

export interface RequestRecordQueueDeps {
	/** Rejects if the block was not written. */
	readonly write: (block: BuiltBlock) => Promise<unknown>;
	readonly clock: Clock;
	readonly log: Log;
	/** Store, for log lines. */
	readonly name: string;
}

/** About 40 MB. */
export const maxQueuedRecords = 100_000;
export const maxRecordsPerBlock = 1000;
/** Requests of this time share a block, and a killed process loses them. */
const pauseMs = 500;
const retryMs = 2000;

/** Upper bounds of durations. Requests that started long ago have blocks of their own, so that the others cover little time. */
const durationsMs = [5_000, 50_000, Number.POSITIVE_INFINITY] as const;

/** Gathers records into blocks and writes one block at a time. Blocks stay queued while they cannot be written; new ones are then dropped. */
export class RequestRecordQueue {
	readonly #deps: RequestRecordQueueDeps;
	readonly #builders = durationsMs.map(() => new BlockBuilder());
	#waiting: BuiltBlock[] = [];
	/** Records in waiting blocks. */
	#waitingCount = 0;
	#writing: Promise<void> | undefined;
	#timer: Timer | undefined;
	#isFailing = false;
	#hasEnded = false;
	#dropped = 0;

	constructor(deps: RequestRecordQueueDeps) {
		this.#deps = deps;
	}

	add(request: RecordedRequest): void {
		if (this.#hasEnded || this.#waitingCount >= maxQueuedRecords) {
			this.#dropped++;
			return;
		}
		const index = request.durationMs <= durationsMs[0] ? 0 : request.durationMs <= durationsMs[1] ? 1 : 2;
		const builder = this.#builders[index];
		if (builder === undefined) return;
		builder.add(request);
		if (builder.count >= maxRecordsPerBlock) {
			this.#take(index);
			this.#schedule(0);
		} else {
			this.#schedule(pauseMs);
		}
	}

	/** Resolves when all earlier records are written; rejects if the next write fails. */
	async flush(): Promise<void> {
		this.#timer?.cancel();
		this.#timer = undefined;
		for (let index = 0; index < this.#builders.length; index++) this.#take(index);
		while (this.#waiting.length > 0 || this.#writing !== undefined) await (this.#writing ?? this.#writeOne());
	}

	/** Accepts no more; queued records are written, or dropped if that fails. */
	async end(): Promise<void> {
		this.#hasEnded = true;
		await this.flush().catch(() => undefined);
		this.#timer?.cancel();
		this.#dropped += this.#waitingCount;
		this.#waiting = [];
		this.#waitingCount = 0;
	}

	health(): RequestRecordsHealth {
		const building = this.#builders.reduce((sum, { count }) => sum + count, 0);
		return { isWritable: !this.#isFailing, queuedRecords: this.#waitingCount + building, droppedRecords: this.#dropped };
	}

	#take(index: number): void {
		const builder = this.#builders[index];
		if (builder === undefined || builder.count === 0) return;
		this.#builders[index] = new BlockBuilder();
		this.#waiting.push(builder.build());
		this.#waitingCount += builder.count;
	}

	#schedule(delayMs: number): void {
		if (this.#timer !== undefined && delayMs > 0) return;
		this.#timer?.cancel();
		this.#timer = this.#deps.clock.after(this.#isFailing ? retryMs : delayMs, () => {
			this.#timer = undefined;
			const work = delayMs === 0 ? this.#writeWaiting() : this.flush();
			work.catch(() => {
				if (!this.#hasEnded) this.#schedule(retryMs);
			});
		});
	}

	async #writeWaiting(): Promise<void> {
		while (this.#waiting.length > 0 || this.#writing !== undefined) await (this.#writing ?? this.#writeOne());
		if (this.health().queuedRecords > 0) this.#schedule(pauseMs);
	}

	#writeOne(): Promise<void> {
		const { write, log, name } = this.#deps;
		const block = this.#waiting[0];
		if (block === undefined) return Promise.resolve();
		this.#writing = write(block)
			.then(
				() => {
					// The end of the queue may have dropped it meanwhile.
					if (this.#waiting[0] === block) {
						this.#waiting.shift();
						this.#waitingCount -= block.count;
					}
					this.#isFailing = false;
				},
				(cause: unknown) => {
					if (!this.#isFailing) log.warn('request records cannot be written and are queued', { store: name, cause });
					this.#isFailing = true;
					throw cause;
				},
			)
			.finally(() => {
				this.#writing = undefined;
			});
		return this.#writing;
	}
}

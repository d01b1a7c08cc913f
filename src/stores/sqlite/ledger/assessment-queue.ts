import type { Clock, Timer } from '../../../core/clock.ts';
import type { Log } from '../../../core/log.ts';
import type { Assessment } from '../../contracts/assessments.ts';
import { compactAssessment } from './compact-assessments.ts';
import type { CompactAssessment } from './ledger-operations.ts';

export interface AssessmentQueueDeps {
	/** Rejects when it is unknown whether they were written: the same ones may be written again. */
	readonly write: (rows: readonly CompactAssessment[]) => Promise<unknown>;
	readonly clock: Clock;
	readonly log: Log;
}

/** About 10 MB. */
export const maxQueuedAssessments = 20_000;
const maxPerBatch = 1000;
/** Delay that lets the assessments of many requests share a transaction. */
const pauseMs = 100;
const retryMs = 1000;

/** Gathers assessments into batches. They stay queued while they cannot be written, and are dropped when the queue is full. */
export class AssessmentQueue {
	readonly #deps: AssessmentQueueDeps;
	#waiting: CompactAssessment[] = [];
	#writing: Promise<void> | undefined;
	#timer: Timer | undefined;
	#isFailing = false;
	#hasEnded = false;
	#dropped = 0;

	constructor(deps: AssessmentQueueDeps) {
		this.#deps = deps;
	}

	/** Number of dropped assessments since the start. */
	get dropped(): number {
		return this.#dropped;
	}

	add(assessments: readonly Assessment[]): void {
		const bufferedCapacity = this.#hasEnded ? 0 : maxQueuedAssessments - this.#waiting.length;
		for (const assessment of assessments.slice(0, bufferedCapacity)) this.#waiting.push(compactAssessment(assessment));
		this.#dropped += Math.max(0, assessments.length - bufferedCapacity);
		this.#schedule(pauseMs);
	}

	/** Resolves when all earlier assessments are written; rejects when the next attempt fails. */
	async flush(): Promise<void> {
		this.#timer?.cancel();
		this.#timer = undefined;
		while (this.#waiting.length > 0 || this.#writing !== undefined) await (this.#writing ?? this.#writeSome());
	}

	/** Accepts no more; queued assessments are written, or dropped when that fails. */
	async end(): Promise<void> {
		this.#hasEnded = true;
		await this.flush().catch(() => undefined);
		this.#timer?.cancel();
		this.#dropped += this.#waiting.length;
		this.#waiting = [];
	}

	#schedule(delayMs: number): void {
		if (this.#hasEnded || this.#waiting.length === 0) return;
		this.#timer ??= this.#deps.clock.after(delayMs, () => {
			this.#timer = undefined;
			this.flush().catch(() => this.#schedule(retryMs));
		});
	}

	#writeSome(): Promise<void> {
		const { write, log } = this.#deps;
		const batch = this.#waiting.slice(0, maxPerBatch);
		this.#writing = write(batch)
			.then(
				() => {
					this.#waiting = this.#waiting.slice(batch.length);
					this.#isFailing = false;
				},
				(cause: unknown) => {
					if (!this.#isFailing) {
						log.warn('guardrail assessments cannot be written and are queued', { cause, entries: this.#waiting.length });
					}
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

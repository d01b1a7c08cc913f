/**
 * One coarse timer for many deadlines: a list that is looked through every period, so that a request costs
 * an insertion and a removal instead of a timer for each of its limits.
 */
import type { Clock } from '../core/clock.ts';

export interface Watched {
	/** Monotonic milliseconds; `Infinity` when nothing is due. May change while watched. */
	readonly dueMs: number;
	/** Where the sweep keeps this entry; -1 while it is not watched. Only the sweep writes it. */
	sweepIndex: number;
	/** Called at every sweep from `dueMs` on, until `dueMs` moves or the watch ends. */
	onDue(nowMs: number): void;
}

export class DeadlineSweep {
	private readonly clock: Clock;
	private readonly periodMs: number;
	// A `Set` costs 20 us a request here: tables it has outgrown keep young entries alive until a major collection.
	private readonly watched: Watched[] = [];
	private isScheduled = false;

	constructor(clock: Clock, periodMs: number) {
		this.clock = clock;
		this.periodMs = periodMs;
	}

	watch(entry: Watched): void {
		if (entry.sweepIndex !== -1) return;
		entry.sweepIndex = this.watched.push(entry) - 1;
		if (!this.isScheduled) this.schedule();
	}

	unwatch(entry: Watched): void {
		const index = entry.sweepIndex;
		if (index === -1) return;
		entry.sweepIndex = -1;
		const last = this.watched.pop();
		if (last === undefined || last === entry) return;
		this.watched[index] = last;
		last.sweepIndex = index;
	}

	get size(): number {
		return this.watched.length;
	}

	private schedule(): void {
		this.isScheduled = true;
		this.clock.after(this.periodMs, () => this.sweep());
	}

	private sweep(): void {
		const nowMs = this.clock.monotonicMs();
		// Backwards: a removal fills its place from the part that has been seen.
		for (let index = this.watched.length - 1; index >= 0; index--) {
			const entry = this.watched[index];
			if (entry !== undefined && entry.dueMs <= nowMs) entry.onDue(nowMs);
		}
		if (this.watched.length > 0) this.schedule();
		else this.isScheduled = false;
	}
}

/**
 * One coarse timer for many deadlines. It checks a list every period, so a request costs one insertion and one removal instead of a timer
 * for each of its limits.
 */
import type { Clock } from '../core/clock.ts';
import { type Listed, SwapRemoveList } from '../core/swap-remove-list.ts';

export interface Watched extends Listed {
	/** Monotonic milliseconds; `Infinity` without a deadline. May change while watched. */
	readonly dueMs: number;
	/** Called at every sweep from `dueMs` on, until `dueMs` moves or the watch ends. */
	onDue(nowMs: number): void;
}

export class DeadlineSweep {
	private readonly clock: Clock;
	private readonly periodMs: number;
	private readonly watched = new SwapRemoveList<Watched>();
	private isScheduled = false;

	constructor(clock: Clock, periodMs: number) {
		this.clock = clock;
		this.periodMs = periodMs;
	}

	watch(entry: Watched): void {
		this.watched.add(entry);
		if (!this.isScheduled) this.schedule();
	}

	unwatch(entry: Watched): void {
		this.watched.remove(entry);
	}

	get size(): number {
		return this.watched.size;
	}

	private schedule(): void {
		this.isScheduled = true;
		this.clock.after(this.periodMs, () => this.sweep());
	}

	private sweep(): void {
		const nowMs = this.clock.monotonicMs();
		this.watched.each((entry) => {
			if (entry.dueMs <= nowMs) entry.onDue(nowMs);
		});
		if (this.watched.size > 0) this.schedule();
		else this.isScheduled = false;
	}
}

import type { Clock } from '../../../core/clock.ts';

/** Clock of recorded time. It moves from request to request. */
export class ReplayClock implements Clock {
	#nowMs = 0;

	/** Never moves back: requests that ended in the millisecond of a start are settled before it. */
	moveTo(nowMs: number): void {
		if (nowMs > this.#nowMs) this.#nowMs = nowMs;
	}

	nowMs(): number {
		return this.#nowMs;
	}

	monotonicMs(): number {
		return this.#nowMs;
	}

	after(): never {
		throw new Error('a replay waits for nothing');
	}
}

import type { Clock, Timer } from '../core/clock.ts';
import { type AdmissionStore, CountersUnreachable, type MaybePromise } from './contracts/admission.ts';

/** The store sent no response within the deadline. */
export class CountersLate extends CountersUnreachable {}

interface Waiting {
	isOver: boolean;
	readonly endsAtTick: number;
	readonly giveUp: () => void;
}

/**
 * Rejects promises after a number of timer ticks. A tick requires that the event loop turned, so a process that is too busy to read
 * responses does not count them as late. One timer serves all.
 */
export class OperationDeadlines {
	private readonly clock: Clock;
	private readonly tickMs: number;
	private readonly ticks: number;
	private readonly waiting: Waiting[] = [];
	private tick = 0;
	private timer: Timer | undefined;

	/** Times out after `ticks` to `ticks + 1` times `tickMs`. */
	constructor(clock: Clock, { tickMs, ticks }: { tickMs: number; ticks: number }) {
		this.clock = clock;
		this.tickMs = tickMs;
		this.ticks = ticks;
	}

	/** @throws CountersLate on timeout; a later result is dropped. */
	race<T>(response: MaybePromise<T>): Promise<T> {
		return new Promise((resolve, reject) => {
			const waiting: Waiting = {
				isOver: false,
				endsAtTick: this.tick + this.ticks + 1,
				giveUp: () => reject(new CountersLate(`No response within ${this.tickMs * this.ticks} ms`)),
			};
			this.waiting.push(waiting);
			this.timer ??= this.clock.after(this.tickMs, this.onTick);
			Promise.resolve(response).then(
				(value) => {
					waiting.isOver = true;
					resolve(value);
				},
				(cause: unknown) => {
					waiting.isOver = true;
					reject(cause);
				},
			);
		});
	}

	private readonly onTick = (): void => {
		this.tick++;
		let first = 0;
		for (const { isOver, endsAtTick, giveUp } of this.waiting) {
			if (!isOver) {
				if (endsAtTick > this.tick) break;
				giveUp();
			}
			first++;
		}
		this.waiting.splice(0, first);
		this.timer = this.waiting.length === 0 ? undefined : this.clock.after(this.tickMs, this.onTick);
	};
}

/** Wraps a store so that slow operations fail with `CountersLate`. */
export function inTime(store: AdmissionStore, deadlines: OperationDeadlines): AdmissionStore {
	return {
		admit: (request) => deadlines.race(store.admit(request)),
		settle: (settlement) => deadlines.race(store.settle(settlement)),
		release: (id, team) => deadlines.race(store.release(id, team)),
		extend: (id, team, reservations) => deadlines.race(store.extend(id, team, reservations)),
		grow: (id, team, reservations, reservationMs) => deadlines.race(store.grow(id, team, reservations, reservationMs)),
		read: (team, budgets, limits) => deadlines.race(store.read(team, budgets, limits)),
		restore: (totals) => deadlines.race(store.restore(totals)),
		restoreReservations: (team, requests) => deadlines.race(store.restoreReservations(team, requests)),
		onReturn: (listener) => store.onReturn(listener),
		close: () => store.close(),
	};
}

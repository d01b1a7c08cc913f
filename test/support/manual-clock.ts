import type { Clock, Timer } from '../../src/core/clock.ts';

interface Appointment {
	readonly dueMs: number;
	readonly task: () => void;
}

/** Clock that stands still until `advance`, which runs due tasks in order of time, then of arrival. */
export class ManualClock implements Clock {
	#wallMs: number;
	#elapsedMs = 0;
	readonly #appointments = new Set<Appointment>();

	constructor(startMs = Date.UTC(2026, 0, 1)) {
		this.#wallMs = startMs;
	}

	nowMs(): number {
		return this.#wallMs;
	}

	monotonicMs(): number {
		return this.#elapsedMs;
	}

	after(delayMs: number, task: () => void): Timer {
		const appointment = { dueMs: this.#elapsedMs + Math.max(0, delayMs), task };
		this.#appointments.add(appointment);
		return { cancel: () => void this.#appointments.delete(appointment) };
	}

	/** Advances both clocks, stopping at each moment when a task is due. */
	advance(ms: number): void {
		const untilMs = this.#elapsedMs + ms;
		for (let next = this.#nextDue(untilMs); next !== undefined; next = this.#nextDue(untilMs)) {
			this.#appointments.delete(next);
			this.#moveTo(Math.max(next.dueMs, this.#elapsedMs));
			next.task();
		}
		this.#moveTo(untilMs);
	}

	/** Changes the wall clock only, as an operator or a time server does. */
	jumpWallTo(nowMs: number): void {
		this.#wallMs = nowMs;
	}

	/** Number of waiting tasks; 0 if none was left behind. */
	get pending(): number {
		return this.#appointments.size;
	}

	#moveTo(elapsedMs: number): void {
		this.#wallMs += elapsedMs - this.#elapsedMs;
		this.#elapsedMs = elapsedMs;
	}

	#nextDue(untilMs: number): Appointment | undefined {
		let first: Appointment | undefined;
		for (const appointment of this.#appointments) {
			if (appointment.dueMs <= untilMs && (first === undefined || appointment.dueMs < first.dueMs)) first = appointment;
		}
		return first;
	}
}

import {
	type BudgetPeriod,
	type BudgetReading,
	type CounterReading,
	isCountedAlways,
	type RateCount,
	type RateLimit,
	type RateReading,
} from '../../core/counters.ts';
import { dayNumberOf } from '../../core/day-number.ts';
import type { Listed } from '../../core/swap-remove-list.ts';
import {
	type BudgetReservation,
	type BudgetTotal,
	CountersMissing,
	fittingNanoUsd,
	maxLaterPeriods,
	rateName,
} from '../contracts/admission.ts';
import { type HashTableEntry, IdHashTable } from '../id-hash-table.ts';

export interface BudgetCounter extends BudgetPeriod {
	settledNanoUsd: bigint;
	reservedNanoUsd: bigint;
}

const nothing: readonly never[] = [];

/** Counter of one UTC minute. */
interface MinuteCounter {
	minute: number;
	used: number;
	reserved: number;
}

/** A request's place in the counter of a minute. */
interface MinutePart {
	readonly counter: MinuteCounter;
	readonly minute: number;
	readonly reservedTokens: number;
}

/** Reservations of one request. */
export interface Reservation extends HashTableEntry<Reservation>, Listed {
	readonly team: TeamCounters;
	/** UTC day of admission, counted from 1970. */
	readonly day: number;
	/** Tokens reserved on that day; 0 if they do not count there. */
	readonly reservedTokens: number;
	readonly parts: { readonly counter: BudgetCounter; amountNanoUsd: bigint }[];
	minuteParts: readonly MinutePart[];
	/** Unix second. */
	endsAtSecond: number;
}

/** The counters of one team. */
export class TeamCounters {
	readonly name: string;
	/** Values of the minute and the day that `rollTo` set last. */
	requests = 0;
	tokens = 0;
	reservedTokens = 0;
	/** Reservations of in-flight requests. */
	readonly inFlightRequests = new IdHashTable<Reservation>();
	day = -1;
	private minute = -1;
	/** By name, then period: a combined key would be a new string to hash for each request. */
	private readonly budgets = new Map<string, BudgetCounter[]>();
	/** Counters of limits that are not counted always, by name. */
	private readonly minutes = new Map<string, MinuteCounter>();

	constructor(name: string) {
		this.name = name;
	}

	rollTo(nowMs: number): void {
		const minute = Math.floor(nowMs / 60_000);
		if (minute === this.minute) return;
		this.minute = minute;
		this.requests = 0;
		const day = dayNumberOf(nowMs);
		if (day === this.day) return;
		this.day = day;
		this.tokens = 0;
		this.reservedTokens = 0;
	}

	knows(budgets: readonly BudgetPeriod[]): boolean {
		for (const budget of budgets) if (this.find(budget) === undefined) return false;
		return true;
	}

	/** @throws CountersMissing */
	budget(budget: BudgetPeriod): BudgetCounter {
		const counter = this.find(budget);
		if (counter === undefined) throw new CountersMissing(this.name);
		return counter;
	}

	/**
	 * Adds a budget that is not known yet. Drops counters without reservations that are older than the previous month, or that have at least
	 * three later periods of the same name and length.
	 */
	addBudget(total: BudgetTotal): void {
		if (this.find(total) !== undefined) return;
		const { budget, period, settledNanoUsd } = total;
		const firstMonth = monthNumber(period) - 1;
		const length = lengthOf(period);
		for (const [name, counters] of this.budgets) {
			const retained = counters.filter((one) => {
				if (one.reservedNanoUsd !== 0n) return true;
				const later = name === budget && lengthOf(one.period) === length ? laterOf(one.period, counters) : 0;
				return monthNumber(one.period) >= firstMonth && later < maxLaterPeriods;
			});
			if (retained.length === 0) this.budgets.delete(name);
			else if (retained.length < counters.length) this.budgets.set(name, retained);
		}
		const counter = { budget, period, settledNanoUsd, reservedNanoUsd: 0n };
		this.budgets.set(budget, [...(this.budgets.get(budget) ?? []), counter]);
	}

	/** Returns the limit that rejects a request. */
	exceeded(limits: readonly RateLimit[]): RateLimit | undefined {
		for (const limit of limits) {
			if (limit.limit !== null && this.takenOf(limit) >= limit.limit) return limit;
		}
		return undefined;
	}

	/** Counts a request in the limits that are not counted always. */
	countRequest(reservation: Reservation, limits: readonly RateLimit[], tokens: number): void {
		for (const limit of limits) {
			if (isCountedAlways(limit) || limit.kind === 'concurrent_requests') continue;
			const counter = this.minuteCounter(limit);
			if (limit.kind === 'rpm') {
				counter.used++;
				continue;
			}
			counter.reserved += tokens;
			reservation.minuteParts = [...reservation.minuteParts, { counter, minute: counter.minute, reservedTokens: tokens }];
		}
	}

	private minuteCounter(limit: RateLimit): MinuteCounter {
		const name = rateName(limit);
		let counter = this.minutes.get(name);
		if (counter === undefined) {
			counter = { minute: this.minute, used: 0, reserved: 0 };
			this.minutes.set(name, counter);
		}
		if (counter.minute !== this.minute) {
			counter.minute = this.minute;
			counter.used = 0;
			counter.reserved = 0;
		}
		return counter;
	}

	/** Returns the sum of what is used and reserved, without an object for the limits that most requests have. */
	private takenOf(limit: RateLimit): number {
		if (limit.kind === 'daily_tokens') return this.tokens + this.reservedTokens;
		if (limit.kind === 'rpm' && limit.models === undefined) return this.requests;
		const { used, reserved } = this.count(limit);
		return used + reserved;
	}

	/** @param limit that is not counted always. */
	private count(limit: RateLimit): RateCount {
		return limit.kind === 'concurrent_requests' ? { used: this.inFlightRequests.count, reserved: 0 } : this.minuteCounter(limit);
	}

	private find({ budget, period }: BudgetPeriod): BudgetCounter | undefined {
		const counters = this.budgets.get(budget);
		if (counters === undefined) return undefined;
		for (const counter of counters) if (counter.period === period) return counter;
		return undefined;
	}

	/** @param ownNanoUsd current reservation of the same request. */
	allows(reservation: BudgetReservation, ownNanoUsd: bigint): boolean {
		const { settledNanoUsd, reservedNanoUsd } = this.budget(reservation);
		const takenNanoUsd = settledNanoUsd + reservedNanoUsd - ownNanoUsd;
		if (reservation.check === 'fit') {
			return takenNanoUsd < reservation.limitNanoUsd && takenNanoUsd + (reservation.minNanoUsd ?? 0n) <= reservation.limitNanoUsd;
		}
		return (
			takenNanoUsd < reservation.limitNanoUsd &&
			(reservation.check === 'before' || takenNanoUsd + reservation.amountNanoUsd <= reservation.limitNanoUsd)
		);
	}

	/** @param day of admission: tokens count on the day that `rollTo` set last, or not at all. */
	reserve(
		id: string,
		day: number,
		requestedTokens: number,
		reservations: readonly (BudgetPeriod & { readonly amountNanoUsd: bigint })[],
	): Reservation {
		const reservedTokens = day === this.day ? requestedTokens : 0;
		this.reservedTokens += reservedTokens;
		const reservation: Reservation = {
			id,
			team: this,
			day,
			reservedTokens,
			parts: [],
			minuteParts: nothing,
			endsAtSecond: 0,
			listIndex: -1,
			next: undefined,
		};
		for (const part of reservations) {
			const counter = this.budget(part);
			counter.reservedNanoUsd += part.amountNanoUsd;
			reservation.parts.push({ counter, amountNanoUsd: part.amountNanoUsd });
		}
		this.inFlightRequests.add(reservation);
		return reservation;
	}

	/**
	 * Returns the smallest amount that any of these budgets has left for a new request; undefined if the full amount is reserved. Requires
	 * that all budgets allow the request.
	 */
	fitting(wanted: readonly BudgetReservation[]): bigint | undefined {
		let fitting: bigint | undefined;
		for (const part of wanted) {
			if (part.check !== 'fit') continue;
			const amount = fittingNanoUsd(this.#remainingOf(part), part.amountNanoUsd, part.minNanoUsd ?? 0n);
			if (fitting === undefined || amount < fitting) fitting = amount;
		}
		return fitting;
	}

	#remainingOf(reservation: BudgetReservation): bigint {
		const { settledNanoUsd, reservedNanoUsd } = this.budget(reservation);
		const remaining = reservation.limitNanoUsd - settledNanoUsd - reservedNanoUsd;
		return remaining > 0n ? remaining : 0n;
	}

	/** @returns the amount reserved on each of these budgets now. */
	grow(reservation: Reservation, wanted: readonly BudgetReservation[]): bigint {
		let reserved: bigint | undefined;
		for (const part of wanted) {
			const own = reservation.parts.find(({ counter }) => counter === this.budget(part))?.amountNanoUsd ?? 0n;
			const missing = part.amountNanoUsd - own;
			const possible = missing <= 0n ? part.amountNanoUsd : own + fittingNanoUsd(this.#remainingOf(part), missing, part.minNanoUsd ?? 0n);
			if (reserved === undefined || possible < reserved) reserved = possible;
		}
		for (const part of wanted) this.#raise(reservation, part, reserved ?? 0n);
		return reserved ?? 0n;
	}

	#raise(reservation: Reservation, part: BudgetPeriod, amountNanoUsd: bigint): void {
		const counter = this.budget(part);
		const known = reservation.parts.find((one) => one.counter === counter);
		const own = known ?? { counter, amountNanoUsd: 0n };
		if (amountNanoUsd <= own.amountNanoUsd) return;
		counter.reservedNanoUsd += amountNanoUsd - own.amountNanoUsd;
		own.amountNanoUsd = amountNanoUsd;
		if (known === undefined) reservation.parts.push(own);
	}

	extend(reservation: Reservation, wanted: readonly BudgetReservation[]): boolean {
		const changes = wanted.map((part) => {
			const counter = this.budget(part);
			const own = reservation.parts.find((one) => one.counter === counter) ?? { counter, amountNanoUsd: 0n };
			return { part, own };
		});
		if (!changes.every(({ part, own }) => part.amountNanoUsd <= own.amountNanoUsd || this.allows(part, own.amountNanoUsd))) return false;
		for (const { part } of changes) this.#raise(reservation, part, part.amountNanoUsd);
		return true;
	}

	giveBack(reservation: Reservation): void {
		this.inFlightRequests.remove(reservation.id);
		if (reservation.day === this.day) this.reservedTokens -= reservation.reservedTokens;
		for (const { counter, minute, reservedTokens } of reservation.minuteParts) {
			if (counter.minute === minute) counter.reserved -= reservedTokens;
		}
		for (const { counter, amountNanoUsd } of reservation.parts) counter.reservedNanoUsd -= amountNanoUsd;
	}

	/** @param day of the request's admission. @param minuteParts of its reservation. */
	settle(day: number, tokens: number, minuteParts: readonly MinutePart[] = nothing): void {
		if (day >= this.day) this.tokens += tokens;
		for (const { counter, minute } of minuteParts) if (counter.minute === minute) counter.used += tokens;
	}

	/** @throws CountersMissing */
	read(nowMs: number, budgets: readonly BudgetPeriod[], limits: readonly RateLimit[]): CounterReading {
		const { requests, tokens, reservedTokens } = this;
		return {
			nowMs,
			requestsThisMinute: requests,
			tokensToday: tokens,
			reservedTokens,
			rates: this.readRates(limits),
			budgets: this.readBudgets(budgets),
		};
	}

	private readRates(limits: readonly RateLimit[]): readonly RateReading[] {
		let rates: RateReading[] | undefined;
		for (const limit of limits) {
			if (isCountedAlways(limit)) continue;
			const { used, reserved } = this.count(limit);
			const { kind, models } = limit;
			rates ??= [];
			rates.push(models === undefined ? { kind, used, reserved } : { kind, models, used, reserved });
		}
		return rates ?? nothing;
	}

	/** Current values. @throws CountersMissing */
	readBudgets(budgets: readonly BudgetPeriod[]): readonly BudgetReading[] {
		return budgets.length === 0 ? nothing : budgets.map((budget) => ({ ...this.budget(budget) }));
	}
}

/** Returns the part of a period that says how long it is; empty for months. */
function lengthOf(period: string): string {
	const plus = period.indexOf('+');
	return plus === -1 ? '' : period.slice(plus);
}

function laterOf(period: string, counters: readonly BudgetPeriod[]): number {
	const length = lengthOf(period);
	return counters.filter((other) => lengthOf(other.period) === length && other.period > period).length;
}

function monthNumber(period: string): number {
	return Number(period.slice(0, 4)) * 12 + Number(period.slice(5, 7));
}

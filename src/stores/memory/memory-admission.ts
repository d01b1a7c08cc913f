/** Counters that live as long as the process. Every operation is synchronous, so operations never interleave. */
import type { Clock } from '../../core/clock.ts';
import type { Admission, BudgetPeriod, CounterReading, RateLimit, Rejected } from '../../core/counters.ts';
import { dayNumberOf } from '../../core/day-number.ts';
import { SwapRemoveList } from '../../core/swap-remove-list.ts';
import {
	type AdmissionRequest,
	type AdmissionStore,
	type BudgetReservation,
	CountersMissing,
	type MaybePromise,
	maxReservationMs,
	type ReservedRequest,
	type Settled,
	type Settlement,
	type TeamTotals,
} from '../contracts/admission.ts';
import { EndedRequests } from './ended-requests.ts';
import { type Reservation, TeamCounters } from './team-counters.ts';
import { TtlMap } from './ttl-map.ts';

/** Teams that are not used for this long are dropped; their reservations have expired before. */
const idleTeamMs = 2 * maxReservationMs;

/** @param idleMs time without a request after which a team is dropped, and restored when it is used again. */
export function createMemoryAdmission({ clock, idleMs = idleTeamMs }: { readonly clock: Clock; readonly idleMs?: number }): AdmissionStore {
	return new MemoryAdmission(clock, idleMs);
}

class MemoryAdmission implements AdmissionStore {
	private readonly clock: Clock;
	private readonly teams: TtlMap<string, TeamCounters>;
	private readonly ended = new EndedRequests();
	private readonly schedule = new ReservationSchedule();

	constructor(clock: Clock, idleMs: number) {
		this.clock = clock;
		this.teams = new TtlMap(idleMs);
	}

	admit(request: AdmissionRequest): MaybePromise<Admission> {
		const nowMs = this.turn();
		const team = this.knownTeam(request.team, request.reservations, nowMs);
		if (team === undefined) return Promise.reject(new CountersMissing(request.team));
		team.rollTo(nowMs);
		if (team.inFlightRequests.get(request.id) !== undefined || this.ended.has(request.team, request.id, nowMs)) {
			const amount = team.inFlightRequests.get(request.id)?.parts[0]?.amountNanoUsd;
			return admitted(team.read(nowMs, request.reservations, request.limits), request.reservations.some(isFitted) ? amount : undefined);
		}
		const binding = bindingLimit(request, team);
		if (binding !== undefined) return { isAdmitted: false, ...binding, reading: team.read(nowMs, request.reservations, request.limits) };
		team.requests++;
		const fitting = team.fitting(request.reservations);
		const reservations =
			fitting === undefined
				? request.reservations
				: request.reservations.map((reservation) => ({ ...reservation, amountNanoUsd: fitting }));
		const reservation = team.reserve(request.id, team.day, request.reservedTokens ?? 0, reservations);
		team.countRequest(reservation, request.limits, request.reservedTokens ?? 0);
		this.schedule.add(reservation, nowMs + request.reservationMs);
		return admitted(team.read(nowMs, request.reservations, request.limits), fitting);
	}

	settle({ id, team: name, admittedMs, tokens, costNanoUsd, budgets }: Settlement): MaybePromise<Settled> {
		const nowMs = this.turn();
		const team = this.knownTeam(name, budgets, nowMs);
		if (team === undefined) return Promise.reject(new CountersMissing(name));
		const reservation = team.inFlightRequests.get(id);
		const isDuplicate = !this.ended.add(name, id, nowMs);
		if (!isDuplicate) {
			if (reservation !== undefined) this.giveBack(reservation);
			team.rollTo(nowMs);
			team.settle(reservation?.day ?? dayNumberOf(admittedMs), tokens, reservation?.minuteParts);
			for (const budget of budgets) team.budget(budget).settledNanoUsd += costNanoUsd;
		}
		return { isDuplicate, isLate: !isDuplicate && reservation === undefined, budgets: team.readBudgets(budgets) };
	}

	async release(id: string, name: string): Promise<void> {
		const nowMs = this.turn();
		const team = this.teams.get(name, nowMs);
		if (team === undefined || !this.ended.add(name, id, nowMs)) return;
		const reservation = team.inFlightRequests.get(id);
		if (reservation !== undefined) this.giveBack(reservation);
	}

	async extend(id: string, name: string, reservations: readonly BudgetReservation[]): Promise<boolean> {
		const nowMs = this.turn();
		const reservation = this.teams.get(name, nowMs)?.inFlightRequests.get(id);
		return reservation === undefined ? false : reservation.team.extend(reservation, reservations);
	}

	async grow(id: string, name: string, reservations: readonly BudgetReservation[], reservationMs: number): Promise<bigint | undefined> {
		const nowMs = this.turn();
		const reservation = this.teams.get(name, nowMs)?.inFlightRequests.get(id);
		if (reservation === undefined) return undefined;
		const reserved = reservation.team.grow(reservation, reservations);
		const endsMs = nowMs + reservationMs;
		if (Math.ceil(endsMs / 1000) > reservation.endsAtSecond) {
			this.schedule.remove(reservation);
			this.schedule.add(reservation, endsMs);
		}
		return reserved;
	}

	async read(name: string, budgets: readonly BudgetPeriod[], limits: readonly RateLimit[] = []): Promise<CounterReading> {
		const nowMs = this.turn();
		const team = this.team(name, nowMs);
		team.rollTo(nowMs);
		return team.read(nowMs, budgets, limits);
	}

	async restore({ team: name, tokensToday, budgets, endedIds }: TeamTotals): Promise<void> {
		const nowMs = this.turn();
		let team = this.teams.get(name, nowMs);
		if (team === undefined) {
			team = new TeamCounters(name);
			team.rollTo(nowMs);
			team.tokens = tokensToday;
			for (const id of endedIds) this.ended.add(name, id, nowMs);
			this.teams.set(name, team, nowMs);
		}
		for (const total of budgets) team.addBudget(total);
	}

	async restoreReservations(name: string, requests: readonly ReservedRequest[]): Promise<void> {
		const nowMs = this.turn();
		const team = this.team(name, nowMs);
		team.rollTo(nowMs);
		for (const { reservations } of requests) for (const reservation of reservations) team.budget(reservation);
		for (const { id, admittedMs, reservationMs, reservedTokens = 0, reservations } of requests) {
			if (team.inFlightRequests.get(id) !== undefined || this.ended.has(name, id, nowMs)) continue;
			this.schedule.add(team.reserve(id, dayNumberOf(admittedMs), reservedTokens, reservations), nowMs + reservationMs);
		}
	}

	onReturn(): void {
		// A store in memory is never unreachable.
	}

	async close(): Promise<void> {
		this.teams.clear();
		this.ended.clear();
		this.schedule.clear();
	}

	private turn(): number {
		const nowMs = this.clock.nowMs();
		this.schedule.endDue(nowMs);
		return nowMs;
	}

	/** @returns undefined unless all of these counters exist. */
	private knownTeam(name: string, budgets: readonly BudgetPeriod[], nowMs: number): TeamCounters | undefined {
		const team = this.teams.get(name, nowMs);
		return team?.knows(budgets) === true ? team : undefined;
	}

	private team(name: string, nowMs: number): TeamCounters {
		const team = this.teams.get(name, nowMs);
		if (team === undefined) throw new CountersMissing(name);
		return team;
	}

	private giveBack(reservation: Reservation): void {
		this.schedule.remove(reservation);
		reservation.team.giveBack(reservation);
	}
}

function admitted(reading: CounterReading, reservedNanoUsd: bigint | undefined): Admission {
	return reservedNanoUsd === undefined ? { isAdmitted: true, reading } : { isAdmitted: true, reading, reservedNanoUsd };
}

function isFitted({ check }: BudgetReservation): boolean {
	return check === 'fit';
}

function bindingLimit(
	{ limits, reservations }: AdmissionRequest,
	team: TeamCounters,
): Pick<Rejected, 'binding' | 'models' | 'budget' | 'period'> | undefined {
	const limit = team.exceeded(limits);
	if (limit !== undefined) return limit.models === undefined ? { binding: limit.kind } : { binding: limit.kind, models: limit.models };
	const exceeded = reservations.find((reservation) => !team.allows(reservation, 0n));
	return exceeded === undefined ? undefined : { binding: 'budget', budget: exceeded.budget, period: exceeded.period };
}

/** Limits the work of one operation; the next one continues. Expiring late is safe: it reserves too much, never too little. */
const maxEndedPerTick = 2000;

/** Releases expired reservations. They are grouped by whole seconds, so that a check does not cost more with more reservations. */
class ReservationSchedule {
	private readonly bySecond = new Map<number, SwapRemoveList<Reservation>>();
	private checkedSecond = -Infinity;

	add(reservation: Reservation, endsMs: number): void {
		reservation.endsAtSecond = Math.ceil(endsMs / 1000);
		let reservations = this.bySecond.get(reservation.endsAtSecond);
		if (reservations === undefined) {
			reservations = new SwapRemoveList();
			this.bySecond.set(reservation.endsAtSecond, reservations);
		}
		reservations.add(reservation);
	}

	remove(reservation: Reservation): void {
		this.bySecond.get(reservation.endsAtSecond)?.remove(reservation);
	}

	endDue(nowMs: number): void {
		const second = Math.floor(nowMs / 1000);
		if (second === this.checkedSecond) return;
		let ended = 0;
		for (const [dueSecond, reservations] of this.bySecond) {
			if (dueSecond > second) continue;
			for (let reservation = reservations.pop(); reservation !== undefined; reservation = reservations.pop()) {
				reservation.team.giveBack(reservation);
				if (++ended === maxEndedPerTick) return;
			}
			this.bySecond.delete(dueSecond);
		}
		this.checkedSecond = second;
	}

	clear(): void {
		this.bySecond.clear();
	}
}

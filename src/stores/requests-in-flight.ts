import type { BudgetPeriod } from '../core/counters.ts';
import { type AdmissionRequest, type BudgetReservation, budgetKey, type ReservedRequest } from './contracts/admission.ts';
import { type HashTableEntry, IdHashTable } from './id-hash-table.ts';

interface Entry extends HashTableEntry<Entry> {
	readonly team: string;
	readonly admittedMs: number;
	endsMs: number;
	readonly reservedTokens: number;
	reservations: ReservedRequest['reservations'];
}

/** In-flight requests of this process: their reservations remain known when the store has lost them. */
export class RequestsInFlight {
	private readonly requests = new IdHashTable<Entry>();

	/** @param reservedNanoUsd amount of each reservation if it is less than requested. */
	start(
		{ id, team, reservedTokens = 0, reservations: requested, reservationMs }: AdmissionRequest,
		nowMs: number,
		reservedNanoUsd?: bigint,
	): void {
		this.requests.remove(id);
		const reservations = reservedNanoUsd === undefined ? requested : withAmount(requested, reservedNanoUsd);
		this.requests.add({ id, team, admittedMs: nowMs, endsMs: nowMs + reservationMs, reservedTokens, reservations, next: undefined });
	}

	end(id: string): void {
		this.requests.remove(id);
	}

	raise(id: string, raised: readonly BudgetReservation[]): void {
		const request = this.requests.get(id);
		if (request === undefined) return;
		const others = request.reservations.filter((reservation) => !raised.some((one) => isSame(one, reservation)));
		request.reservations = [...others, ...raised.map((one) => largest(one, request.reservations))];
	}

	raiseTo(id: string, reservations: readonly BudgetReservation[], amountNanoUsd: bigint): void {
		this.raise(id, withAmount(reservations, amountNanoUsd));
	}

	renew(id: string, endsMs: number): void {
		const request = this.requests.get(id);
		if (request !== undefined && request.endsMs < endsMs) request.endsMs = endsMs;
	}

	ids(): string[] {
		return [...this.requests].map(({ id }) => id);
	}

	/** Undefined if the request is not in flight here. */
	teamOf(id: string): string | undefined {
		return this.requests.get(id)?.team;
	}

	budgetsOf(team: string): BudgetPeriod[] {
		return [...this.requests].filter((request) => request.team === team).flatMap(({ reservations }) => reservations);
	}

	reservedNanoUsd(team: string, budget: BudgetPeriod): bigint {
		let sum = 0n;
		for (const request of this.requests) {
			if (request.team === team) {
				for (const reservation of request.reservations) if (isSame(reservation, budget)) sum += reservation.amountNanoUsd;
			}
		}
		return sum;
	}

	/** Those of `ids` that still reserve something, by team. */
	reserved(ids: Iterable<string>, nowMs: number): Map<string, ReservedRequest[]> {
		const byTeam = new Map<string, ReservedRequest[]>();
		for (const id of ids) {
			const request = this.requests.get(id);
			if (request === undefined) continue;
			if (request.endsMs <= nowMs) {
				this.requests.remove(id);
				continue;
			}
			const requests = byTeam.get(request.team) ?? [];
			const { admittedMs, reservedTokens, reservations } = request;
			requests.push({ id, admittedMs, reservationMs: request.endsMs - nowMs, reservedTokens, reservations });
			byTeam.set(request.team, requests);
		}
		return byTeam;
	}
}

function withAmount(reservations: readonly BudgetReservation[], amountNanoUsd: bigint): BudgetReservation[] {
	return reservations.map((reservation) => ({ ...reservation, amountNanoUsd }));
}

function isSame(one: BudgetPeriod, other: BudgetPeriod): boolean {
	return budgetKey(one) === budgetKey(other);
}

function largest(raised: BudgetReservation, reservations: ReservedRequest['reservations']): ReservedRequest['reservations'][number] {
	const before = reservations.find((reservation) => isSame(reservation, raised));
	return before !== undefined && before.amountNanoUsd > raised.amountNanoUsd ? before : raised;
}

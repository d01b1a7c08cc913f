import type { BudgetPeriod } from '../core/counters.ts';
import { type AdmissionStore, CountersUnreachable, type Settlement } from './contracts/admission.ts';
import type { RequestsInFlight } from './requests-in-flight.ts';

/** Maximum number of queued ends. Beyond it the oldest end of the same team, if there is one, is dropped, and only the ledger has it. */
const maxEnds = 100_000;

/** Number of concurrent deliveries. */
const atOnce = 50;

export type End = { readonly settlement: Settlement } | { readonly team: string };

export function teamOfEnd(end: End): string {
	return 'settlement' in end ? end.settlement.team : end.team;
}

type Receiver = Pick<AdmissionStore, 'settle' | 'release' | 'restoreReservations'>;

interface Backlog {
	readonly withoutReservation: Set<string>;
	readonly ends: Map<string, End>;
}

/** Updates that the store has missed, by team, in replay order: first reservations, then ends. */
export class ReplayQueue {
	/** Number of dropped ends. */
	lost = 0;
	private readonly requests: RequestsInFlight;
	private readonly backlogs = new Map<string, Backlog>();
	private endCount = 0;

	constructor(requests: RequestsInFlight) {
		this.requests = requests;
	}

	get size(): number {
		let withoutReservation = 0;
		for (const backlog of this.backlogs.values()) withoutReservation += backlog.withoutReservation.size;
		return withoutReservation + this.endCount;
	}

	get teams(): readonly string[] {
		return [...this.backlogs.keys()];
	}

	/** Budgets of the team's settlements. All are restored at once, because each total includes what ended before. */
	budgetsOf(team: string): readonly BudgetPeriod[] {
		const ends = [...(this.backlogs.get(team)?.ends.values() ?? [])];
		return ends.flatMap((end) => ('settlement' in end ? end.settlement.budgets : []));
	}

	retain(id: string, team: string): void {
		this.backlogOf(team).withoutReservation.add(id);
	}

	settle(settlement: Settlement): void {
		this.notify(settlement.id, { settlement });
	}

	release(id: string, team: string): void {
		this.notify(id, { team });
	}

	/** Replays until the team has no updates left, or `canContinue` returns false. Throws the store's errors; what was not delivered stays. */
	async deliver(team: string, store: Receiver, nowMs: () => number, canContinue: () => boolean): Promise<void> {
		for (;;) {
			const backlog = this.backlogs.get(team);
			if (backlog === undefined || !canContinue()) return;
			const { withoutReservation, ends } = backlog;
			const ids = firstOf(withoutReservation);
			for (const [of, requests] of this.requests.reserved(ids, nowMs())) await store.restoreReservations(of, requests);
			for (const id of ids) withoutReservation.delete(id);
			if (withoutReservation.size === 0) {
				const some = firstOf(ends);
				await Promise.all(some.map(([id, end]) => this.deliverEnd(store, id, end, ends)));
			}
			if (withoutReservation.size === 0 && ends.size === 0) this.backlogs.delete(team);
		}
	}

	notify(id: string, end: End): void {
		const { withoutReservation, ends } = this.backlogOf(teamOfEnd(end));
		withoutReservation.delete(id);
		if (ends.has(id)) return;
		if (this.endCount >= maxEnds) this.dropOldest(ends);
		ends.set(id, end);
		this.endCount++;
	}

	private async deliverEnd(store: Receiver, id: string, end: End, ends: Map<string, End>): Promise<void> {
		try {
			await ('settlement' in end ? store.settle(end.settlement) : store.release(id, end.team));
		} catch (cause) {
			// An end that the store will never accept must not block the rest.
			if (!(cause instanceof CountersUnreachable)) this.lost++;
			else throw cause;
		}
		if (ends.delete(id)) this.endCount--;
	}

	/** @param preferred ends of the team that needs the slot. */
	private dropOldest(preferred: Map<string, End>): void {
		const ends = preferred.size > 0 ? preferred : [...this.backlogs.values()].find((backlog) => backlog.ends.size > 0)?.ends;
		const [oldest] = ends?.keys() ?? [];
		if (oldest !== undefined && ends?.delete(oldest) === true) this.endCount--;
		this.lost++;
	}

	private backlogOf(team: string): Backlog {
		let backlog = this.backlogs.get(team);
		if (backlog === undefined) {
			backlog = { withoutReservation: new Set(), ends: new Map() };
			this.backlogs.set(team, backlog);
		}
		return backlog;
	}
}

function firstOf<T>(all: Iterable<T>): T[] {
	const first: T[] = [];
	for (const one of all) if (first.push(one) === atOnce) break;
	return first;
}

/** Older ends are in the ledger, unless its server is unreachable. */
const retentionMs = 60_000;

/** Number of latest ends that are kept. */
const maxCached = 20_000;

interface CachedEntry {
	readonly id: string;
	readonly end: End;
	readonly atMs: number;
}

/** Recently ended requests, in case the counters are lost and restored from a ledger that does not contain these ends yet. */
export class RecentSettlements {
	/** Ring buffer: once it is full, the next slot is that of the oldest. */
	private readonly ends: CachedEntry[] = [];
	private next = 0;

	note(id: string, end: End, nowMs: number): void {
		this.ends[this.next] = { id, end, atMs: nowMs };
		this.next = (this.next + 1) % maxCached;
	}

	/** Oldest first; a request that ended several times appears several times. @param team undefined: all teams */
	latest(nowMs: number, team?: string): (readonly [id: string, end: End])[] {
		const byAge = [...this.ends.slice(this.next), ...this.ends.slice(0, this.next)];
		const requested = byAge.filter(({ atMs, end }) => nowMs - atMs <= retentionMs && (team === undefined || team === teamOfEnd(end)));
		return requested.map(({ id, end }) => [id, end]);
	}
}

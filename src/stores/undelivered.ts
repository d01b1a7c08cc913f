import type { BudgetPeriod } from '../core/counters.ts';
import type { CallsInFlight } from './calls-in-flight.ts';
import { type AdmissionStore, CountersUnreachable, type Settlement } from './contracts/admission.ts';

/** Ends of calls that wait at most; beyond that the oldest are dropped, and only the ledger has them. */
const maxEnds = 100_000;

/** Delivered side by side. */
const atOnce = 50;

export type End = { readonly settlement: Settlement } | { readonly team: string };

export function teamOfEnd(end: End): string {
	return 'settlement' in end ? end.settlement.team : end.team;
}

type Receiver = Pick<AdmissionStore, 'settle' | 'release' | 'rehold'>;

interface Backlog {
	readonly unheld: Set<string>;
	readonly ends: Map<string, End>;
}

/** What the store has not been told of each team, in the order in which it is to learn it: first reservations, then what has ended. */
export class Undelivered {
	/** Ends that were dropped. */
	lost = 0;
	private readonly calls: CallsInFlight;
	private readonly backlogs = new Map<string, Backlog>();
	private endCount = 0;

	constructor(calls: CallsInFlight) {
		this.calls = calls;
	}

	get size(): number {
		let unheld = 0;
		for (const backlog of this.backlogs.values()) unheld += backlog.unheld.size;
		return unheld + this.endCount;
	}

	get teams(): readonly string[] {
		return [...this.backlogs.keys()];
	}

	/** Of the team's settlements. All are to be restored at once, for each total contains what ended before. */
	budgetsOf(team: string): readonly BudgetPeriod[] {
		const ends = [...(this.backlogs.get(team)?.ends.values() ?? [])];
		return ends.flatMap((end) => ('settlement' in end ? end.settlement.budgets : []));
	}

	hold(id: string, team: string): void {
		this.backlogOf(team).unheld.add(id);
	}

	settle(settlement: Settlement): void {
		this.tell(settlement.id, { settlement });
	}

	release(id: string, team: string): void {
		this.tell(id, { team });
	}

	/** Until nothing is left of the team, or `mayGoOn` is false. Throws what the store throws; what was not delivered stays. */
	async deliver(team: string, store: Receiver, nowMs: () => number, mayGoOn: () => boolean): Promise<void> {
		for (;;) {
			const backlog = this.backlogs.get(team);
			if (backlog === undefined || !mayGoOn()) return;
			const { unheld, ends } = backlog;
			const ids = firstOf(unheld);
			for (const [of, calls] of this.calls.held(ids, nowMs())) await store.rehold(of, calls);
			for (const id of ids) unheld.delete(id);
			if (unheld.size === 0) {
				const some = firstOf(ends);
				await Promise.all(some.map(([id, end]) => this.deliverEnd(store, id, end, ends)));
			}
			if (unheld.size === 0 && ends.size === 0) this.backlogs.delete(team);
		}
	}

	tell(id: string, end: End): void {
		const { unheld, ends } = this.backlogOf(teamOfEnd(end));
		unheld.delete(id);
		if (ends.has(id)) return;
		if (this.endCount >= maxEnds) this.dropOldest(ends);
		ends.set(id, end);
		this.endCount++;
	}

	private async deliverEnd(store: Receiver, id: string, end: End, ends: Map<string, End>): Promise<void> {
		try {
			await ('settlement' in end ? store.settle(end.settlement) : store.release(id, end.team));
		} catch (cause) {
			// What the store will never take must not keep it from the rest.
			if (!(cause instanceof CountersUnreachable)) this.lost++;
			else throw cause;
		}
		if (ends.delete(id)) this.endCount--;
	}

	/** @param preferred of the team that needs the room. */
	private dropOldest(preferred: Map<string, End>): void {
		const ends = preferred.size > 0 ? preferred : [...this.backlogs.values()].find((backlog) => backlog.ends.size > 0)?.ends;
		const [oldest] = ends?.keys() ?? [];
		if (oldest !== undefined && ends?.delete(oldest) === true) this.endCount--;
		this.lost++;
	}

	private backlogOf(team: string): Backlog {
		let backlog = this.backlogs.get(team);
		if (backlog === undefined) {
			backlog = { unheld: new Set(), ends: new Map() };
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

/** A ledger has what ended longer ago, unless its server is away. */
const rememberedMs = 60_000;

/** Of the latest. */
const mostRemembered = 20_000;

interface Remembered {
	readonly id: string;
	readonly end: End;
	readonly atMs: number;
}

/** Calls that ended a moment ago, in case that the counters are lost and summed up from a ledger that does not have their ends yet. */
export class RecentEnds {
	/** A ring: once it is full, the next place is that of the oldest. */
	private readonly ends: Remembered[] = [];
	private next = 0;

	note(id: string, end: End, nowMs: number): void {
		this.ends[this.next] = { id, end, atMs: nowMs };
		this.next = (this.next + 1) % mostRemembered;
	}

	/** Oldest first; a call that ended several times appears several times. @param team undefined: all teams */
	latest(nowMs: number, team?: string): (readonly [id: string, end: End])[] {
		const byAge = [...this.ends.slice(this.next), ...this.ends.slice(0, this.next)];
		const asked = byAge.filter(({ atMs, end }) => nowMs - atMs <= rememberedMs && (team === undefined || team === teamOfEnd(end)));
		return asked.map(({ id, end }) => [id, end]);
	}
}

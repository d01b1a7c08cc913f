import type { CallsInFlight } from './calls-in-flight.ts';
import { type AdmissionStore, CountersUnreachable, type Settlement } from './contracts/admission.ts';

/** Ends of calls that wait at most; beyond that the oldest are dropped, and only the ledger has them. */
const maxEnds = 100_000;

/** Delivered side by side. */
const atOnce = 50;

export type End = { readonly settlement: Settlement } | { readonly team: string };

type Receiver = Pick<AdmissionStore, 'settle' | 'release' | 'rehold'>;

/** What the store has not been told, in the order in which it is to learn it: first what is held, then what has ended. */
export class Undelivered {
	/** Ends that were dropped. */
	lost = 0;
	private readonly calls: CallsInFlight;
	private readonly unheld = new Set<string>();
	private readonly ends = new Map<string, End>();

	constructor(calls: CallsInFlight) {
		this.calls = calls;
	}

	get size(): number {
		return this.unheld.size + this.ends.size;
	}

	hold(id: string): void {
		this.unheld.add(id);
	}

	settle(settlement: Settlement): void {
		this.tell(settlement.id, { settlement });
	}

	release(id: string, team: string): void {
		this.tell(id, { team });
	}

	/** Until nothing is left, or `mayGoOn` is false. Throws what the store throws; what was not delivered stays. */
	async deliver(store: Receiver, nowMs: () => number, mayGoOn: () => boolean): Promise<void> {
		while (this.size > 0 && mayGoOn()) {
			const unheld = firstOf(this.unheld);
			for (const [team, calls] of this.calls.held(unheld, nowMs())) await store.rehold(team, calls);
			for (const id of unheld) this.unheld.delete(id);
			if (this.unheld.size > 0) continue;
			const some = firstOf(this.ends);
			await Promise.all(some.map(([id, end]) => this.deliverEnd(store, id, end)));
		}
	}

	private async deliverEnd(store: Receiver, id: string, end: End): Promise<void> {
		try {
			await ('settlement' in end ? store.settle(end.settlement) : store.release(id, end.team));
		} catch (cause) {
			// What the store will never take must not keep it from the rest.
			if (!(cause instanceof CountersUnreachable)) this.lost++;
			else throw cause;
		}
		this.ends.delete(id);
	}

	tell(id: string, end: End): void {
		this.unheld.delete(id);
		if (this.ends.has(id)) return;
		if (this.ends.size >= maxEnds) {
			const [oldest] = this.ends.keys();
			if (oldest !== undefined) this.ends.delete(oldest);
			this.lost++;
		}
		this.ends.set(id, end);
	}
}

function firstOf<T>(all: Iterable<T>): T[] {
	const first: T[] = [];
	for (const one of all) if (first.push(one) === atOnce) break;
	return first;
}

import { type End, teamOfEnd } from './undelivered.ts';

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

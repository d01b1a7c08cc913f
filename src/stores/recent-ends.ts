import type { End } from './undelivered.ts';

/** A ledger has what ended longer ago, unless its server is away. */
const rememberedMs = 60_000;

/** Of the latest. */
const mostRemembered = 20_000;

/** Calls that ended a moment ago, in case that the counters are lost and summed up from a ledger that does not have their ends yet. */
export class RecentEnds {
	private readonly ends = new Map<string, { readonly end: End; readonly atMs: number }>();

	note(id: string, end: End, nowMs: number): void {
		this.ends.set(id, { end, atMs: nowMs });
		for (const [oldest, { atMs }] of this.ends) {
			if (this.ends.size <= mostRemembered && nowMs - atMs <= rememberedMs) break;
			this.ends.delete(oldest);
		}
	}

	latest(nowMs: number): (readonly [id: string, end: End])[] {
		return [...this.ends].filter(([, { atMs }]) => nowMs - atMs <= rememberedMs).map(([id, { end }]) => [id, end]);
	}
}

import type { Hold } from './team-counters.ts';

/** Work of one turn of the loop; what remains is ended by the next. Late is safe: it holds too much, never too little. */
const maxEndedATurn = 2000;

/** Ends holds whose time is over, by whole seconds, so that the cost of looking does not grow with what is held. */
export class HoldSchedule {
	private readonly bySecond = new Map<number, Set<Hold>>();
	private lookedAtSecond = -Infinity;

	add(hold: Hold, endsMs: number): void {
		hold.endsAtSecond = Math.ceil(endsMs / 1000);
		const holds = this.bySecond.get(hold.endsAtSecond);
		if (holds === undefined) this.bySecond.set(hold.endsAtSecond, new Set([hold]));
		else holds.add(hold);
	}

	remove(hold: Hold): void {
		const holds = this.bySecond.get(hold.endsAtSecond);
		holds?.delete(hold);
		if (holds?.size === 0) this.bySecond.delete(hold.endsAtSecond);
	}

	endDue(nowMs: number): void {
		const second = Math.floor(nowMs / 1000);
		if (second === this.lookedAtSecond) return;
		let ended = 0;
		for (const [dueSecond, holds] of this.bySecond) {
			if (dueSecond > second) continue;
			for (const hold of holds) {
				if (ended++ === maxEndedATurn) return;
				holds.delete(hold);
				hold.team.giveBack(hold);
			}
			this.bySecond.delete(dueSecond);
		}
		this.lookedAtSecond = second;
	}

	clear(): void {
		this.bySecond.clear();
	}
}

import type { Hold } from './team-counters.ts';

/** Work of one turn of the loop; what remains is ended by the next. Late is safe: it holds too much, never too little. */
const maxEndedATurn = 2000;

/** Ends holds whose time is over, by whole seconds, so that the cost of looking does not grow with what is held. */
export class HoldSchedule {
	/** Each hold knows its place among those of its second. */
	private readonly bySecond = new Map<number, Hold[]>();
	private lookedAtSecond = -Infinity;

	add(hold: Hold, endsMs: number): void {
		hold.endsAtSecond = Math.ceil(endsMs / 1000);
		const holds = this.bySecond.get(hold.endsAtSecond);
		hold.scheduleIndex = holds?.length ?? 0;
		if (holds === undefined) this.bySecond.set(hold.endsAtSecond, [hold]);
		else holds.push(hold);
	}

	remove(hold: Hold): void {
		const holds = this.bySecond.get(hold.endsAtSecond);
		if (holds?.[hold.scheduleIndex] !== hold) return;
		const last = holds.pop();
		if (last === undefined || last === hold) return;
		// The last one takes its place.
		holds[hold.scheduleIndex] = last;
		last.scheduleIndex = hold.scheduleIndex;
	}

	endDue(nowMs: number): void {
		const second = Math.floor(nowMs / 1000);
		if (second === this.lookedAtSecond) return;
		let ended = 0;
		for (const [dueSecond, holds] of this.bySecond) {
			if (dueSecond > second) continue;
			for (let hold = holds.pop(); hold !== undefined; hold = holds.pop()) {
				hold.team.giveBack(hold);
				if (++ended === maxEndedATurn) return;
			}
			this.bySecond.delete(dueSecond);
		}
		this.lookedAtSecond = second;
	}

	clear(): void {
		this.bySecond.clear();
	}
}

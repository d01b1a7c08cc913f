import { OpenList } from '../../core/open-list.ts';
import type { Hold } from './team-counters.ts';

/** Work of one turn of the loop; what remains is ended by the next. Late is safe: it holds too much, never too little. */
const maxEndedATurn = 2000;

/** Ends holds whose time is over, by whole seconds, so that the cost of looking does not grow with what is held. */
export class HoldSchedule {
	private readonly bySecond = new Map<number, OpenList<Hold>>();
	private lookedAtSecond = -Infinity;

	add(hold: Hold, endsMs: number): void {
		hold.endsAtSecond = Math.ceil(endsMs / 1000);
		let holds = this.bySecond.get(hold.endsAtSecond);
		if (holds === undefined) {
			holds = new OpenList();
			this.bySecond.set(hold.endsAtSecond, holds);
		}
		holds.add(hold);
	}

	remove(hold: Hold): void {
		this.bySecond.get(hold.endsAtSecond)?.remove(hold);
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

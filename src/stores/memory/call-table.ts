import { markOf } from '../id-mark.ts';

export interface Chained<Call> {
	readonly id: string;
	/** Kept by the table. */
	next: Call | undefined;
}

/** By id of call. Those whose ids have one mark hang on each other. */
export class CallTable<Call extends Chained<Call>> {
	private readonly byMark = new Map<number, Call>();

	get(id: string): Call | undefined {
		let call = this.byMark.get(markOf(id));
		while (call !== undefined && call.id !== id) call = call.next;
		return call;
	}

	/** None of that id is there. */
	add(call: Call): void {
		const mark = markOf(call.id);
		call.next = this.byMark.get(mark);
		this.byMark.set(mark, call);
	}

	remove(id: string): void {
		const mark = markOf(id);
		const first = this.byMark.get(mark);
		if (first === undefined) return;
		if (first.id === id) {
			if (first.next === undefined) this.byMark.delete(mark);
			else this.byMark.set(mark, first.next);
			return;
		}
		for (let call = first; call.next !== undefined; call = call.next) {
			if (call.next.id !== id) continue;
			call.next = call.next.next;
			return;
		}
	}
}

/** The end of a turn of the event loop, at which what was gathered in it is done. */

/** Has something to do before anything that was written in this turn leaves. */
export interface TurnListener {
	/** A listener that throws keeps neither the other listeners nor the sockets from their turn. */
	onTurnEnd(): void;
}

/** What holds back what is written to it. */
export interface Corked {
	uncork(): void;
}

export type ReportDefect = (defect: unknown) => void;

let listeners: TurnListener[] = [];
let corked: Corked[] = [];
let isAwaited = false;

/** Without a receiver a defect surfaces as an uncaught exception. */
const throwLater: ReportDefect = (defect) => {
	queueMicrotask(() => {
		throw defect;
	});
};

let reportDefect = throwLater;

/** Names the receiver of what listeners throw; one for a process. @returns what takes it back. */
export function reportTurnDefects(receiver: ReportDefect): () => void {
	reportDefect = receiver;
	return () => {
		if (reportDefect === receiver) reportDefect = throwLater;
	};
}

/** Once, in the order of the calls. */
export function tellTurnEnd(listener: TurnListener): void {
	listeners.push(listener);
	awaitEnd();
}

/** After all listeners, in the order of the calls. */
export function uncorkAtTurnEnd(one: Corked): void {
	corked.push(one);
	awaitEnd();
}

function awaitEnd(): void {
	if (isAwaited) return;
	isAwaited = true;
	setImmediate(endTurn);
}

function endTurn(): void {
	const [told, released] = [listeners, corked];
	listeners = [];
	corked = [];
	isAwaited = false;
	for (const listener of told) {
		try {
			listener.onTurnEnd();
		} catch (defect) {
			report(defect);
		}
	}
	// A socket that stays corked sends nothing again.
	for (const one of released) {
		try {
			one.uncork();
		} catch (defect) {
			report(defect);
		}
	}
}

function report(defect: unknown): void {
	try {
		reportDefect(defect);
	} catch (second) {
		throwLater(second);
	}
}

/** The end of a turn of the event loop, at which what was gathered in it is done. */

/** Who has something to do before anything that was written in this turn leaves. */
export interface TurnListener {
	/** Must not throw. */
	onTurnEnd(): void;
}

/** What holds back what is written to it. */
export interface Corked {
	uncork(): void;
}

let listeners: TurnListener[] = [];
let corked: Corked[] = [];
let isAwaited = false;

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
	for (const listener of told) listener.onTurnEnd();
	for (const one of released) one.uncork();
}

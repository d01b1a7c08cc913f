/** Work that is done in some steps, each of at most a few milliseconds, so that others may have their turn between them. */
export type Steps<Result> = Generator<undefined, Result, undefined>;

/** For work that is known to be small, or where nobody waits. */
export function atOnce<Result>(steps: Steps<Result>): Result {
	for (;;) {
		const step = steps.next();
		if (step.done === true) return step.value;
	}
}

const waiting: (() => void)[] = [];

/**
 * Resolves in a turn of the event loop in which nobody else who asked gets to go on: long work in steps asks before each, so that a
 * crowd of it never makes a turn longer than one step. In the order asked, over the whole process.
 */
export function ownTurn(): Promise<void> {
	return new Promise((resolve) => {
		if (waiting.push(resolve) === 1) setImmediate(letOneGo);
	});
}

function letOneGo(): void {
	waiting.shift()?.();
	if (waiting.length > 0) setImmediate(letOneGo);
}

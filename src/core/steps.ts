/** Work that is done in some steps, each of at most a few milliseconds, so that others may have their turn between them. */
export type Steps<Result> = Generator<undefined, Result, undefined>;

/** For work that is known to be small, or where nobody waits. */
export function atOnce<Result>(steps: Steps<Result>): Result {
	for (;;) {
		const step = steps.next();
		if (step.done === true) return step.value;
	}
}

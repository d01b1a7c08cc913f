/** Cooperative work in steps of at most a few milliseconds, so that other work runs between them. */
export type CooperativeTask<Result> = Generator<undefined, Result, undefined>;

/** Runs all steps at once, for work that is known to be small or that delays no request. */
export function runSynchronously<Result>(steps: CooperativeTask<Result>): Result {
	for (;;) {
		const step = steps.next();
		if (step.done === true) return step.value;
	}
}

const waiting: (() => void)[] = [];

/**
 * Yields to the event loop. Each tick resumes only one waiting task of the process, in the order of the calls. Many long tasks therefore
 * never make a tick longer than one step.
 */
export function yieldToEventLoop(): Promise<void> {
	return new Promise((resolve) => {
		if (waiting.push(resolve) === 1) setImmediate(resumeNext);
	});
}

function resumeNext(): void {
	waiting.shift()?.();
	if (waiting.length > 0) setImmediate(resumeNext);
}

export type TakeTurn = <Result>(task: () => Promise<Result>) => Promise<Result>;

/** Tasks run one after another, so that what one has read is still so when it writes. */
export function createTurns(): TakeTurn {
	let last: Promise<unknown> = Promise.resolve();
	return (task) => {
		const mine = last.then(task);
		last = mine.catch(() => undefined);
		return mine;
	};
}

/**
 * One read begins in each turn of the event loop, in the order asked: between any two of a crowd, the process does what else it has to,
 * such as serving calls.
 */
export function createLoopTurns(): () => Promise<void> {
	const waiting: (() => void)[] = [];
	const letOneGo = (): void => {
		waiting.shift()?.();
		if (waiting.length > 0) setImmediate(letOneGo);
	};
	return () =>
		new Promise((resolve) => {
			if (waiting.push(resolve) === 1) setImmediate(letOneGo);
		});
}

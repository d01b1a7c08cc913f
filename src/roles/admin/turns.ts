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

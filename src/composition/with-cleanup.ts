/** Runs `work` and closes everything it opened and did not move elsewhere, so that no open resource keeps the process alive. */
export async function withOpened<Result>(work: (opened: AsyncDisposableStack) => Promise<Result>): Promise<Result> {
	// Replaceable by `await using` once the import checker can parse it.
	const opened = new AsyncDisposableStack();
	try {
		return await work(opened);
	} finally {
		await opened.disposeAsync();
	}
}

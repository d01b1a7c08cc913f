/** Runs `work`; what it has opened and not moved elsewhere is closed however it ends, so that nothing keeps the process alive. */
export async function withOpened<Result>(work: (opened: AsyncDisposableStack) => Promise<Result>): Promise<Result> {
	// A declaration with `await using` would do, once what checks the imports can read one.
	const opened = new AsyncDisposableStack();
	try {
		return await work(opened);
	} finally {
		await opened.disposeAsync();
	}
}

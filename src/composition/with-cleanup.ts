/** Runs `work` and closes everything it opened and did not move elsewhere, so that no open resource keeps the process alive. */
export async function withCleanup<Result>(work: (cleanup: AsyncDisposableStack) => Promise<Result>): Promise<Result> {
	// Replaceable by `await using` once the import checker can parse it.
	const cleanup = new AsyncDisposableStack();
	try {
		return await work(cleanup);
	} finally {
		await cleanup.disposeAsync();
	}
}

/**
 * Resolves once `isTrue` returns true, which it checks in every iteration of the event loop.
 * @throws after thirty seconds, which only a busy machine needs.
 */
export async function until(isTrue: () => boolean, what = 'the condition'): Promise<void> {
	const endMs = performance.now() + 30_000;
	while (!isTrue()) {
		if (performance.now() > endMs) throw new Error(`${what} has not come true within thirty seconds`);
		await new Promise((resolve) => setImmediate(resolve));
	}
}

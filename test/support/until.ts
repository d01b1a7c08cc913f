/** Resolves once `isTrue`, looking at every turn of the event loop. @throws after ten seconds, which nothing should take but on a busy machine. */
export async function until(isTrue: () => boolean, what = 'the condition'): Promise<void> {
	const endMs = performance.now() + 10_000;
	while (!isTrue()) {
		if (performance.now() > endMs) throw new Error(`${what} has not come true within ten seconds`);
		await new Promise((resolve) => setImmediate(resolve));
	}
}

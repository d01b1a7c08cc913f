/** Resolves once `isTrue`, looking at every turn of the event loop. @throws after two seconds. */
export async function until(isTrue: () => boolean, what = 'the condition'): Promise<void> {
	const endMs = performance.now() + 2000;
	while (!isTrue()) {
		if (performance.now() > endMs) throw new Error(`${what} has not come true within two seconds`);
		await new Promise((resolve) => setImmediate(resolve));
	}
}

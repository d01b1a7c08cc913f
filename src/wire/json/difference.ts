/** A difference between two JSON values. */
export interface JsonDifference {
	/** Path such as `messages[0].content`; empty for the whole value. */
	readonly path: string;
	/** Absent if it was added. */
	readonly before?: unknown;
	/** Absent if it was removed. */
	readonly after?: unknown;
}

/** Returns the innermost differences, in the order of `before`, then added ones. @param max maximum number of differences. */
export function differencesOf(before: unknown, after: unknown, max: number): JsonDifference[] {
	const found: JsonDifference[] = [];
	collect(before, after, '', found, max);
	return found;
}

function collect(before: unknown, after: unknown, path: string, found: JsonDifference[], max: number): void {
	if (found.length >= max || Object.is(before, after)) return;
	if (!isInner(before) || !isInner(after) || Array.isArray(before) !== Array.isArray(after)) {
		found.push({ path, ...(before !== undefined && { before }), ...(after !== undefined && { after }) });
		return;
	}
	for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
		const step = Array.isArray(before) ? `[${name}]` : path === '' ? name : `.${name}`;
		collect(valueOf(before, name), valueOf(after, name), `${path}${step}`, found, max);
	}
}

function valueOf(value: object, name: string): unknown {
	return Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
}

function isInner(value: unknown): value is object {
	return typeof value === 'object' && value !== null;
}

/** A difference between two JSON values. */
export interface JsonDifference {
	/** Path such as `messages[0].content`; empty for the whole value. */
	readonly path: string;
	/** Absent if it was added. */
	readonly before?: unknown;
	/** Absent if it was removed. */
	readonly after?: unknown;
}

/** Returns the innermost differences, in the order of `before`, then added ones. @param most maximum number of differences. */
export function differencesOf(before: unknown, after: unknown, most: number): JsonDifference[] {
	const found: JsonDifference[] = [];
	collect(before, after, '', found, most);
	return found;
}

function collect(before: unknown, after: unknown, path: string, found: JsonDifference[], most: number): void {
	if (found.length >= most || Object.is(before, after)) return;
	if (!isInner(before) || !isInner(after) || Array.isArray(before) !== Array.isArray(after)) {
		found.push({ path, ...(before !== undefined && { before }), ...(after !== undefined && { after }) });
		return;
	}
	for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
		const step = Array.isArray(before) ? `[${name}]` : path === '' ? name : `.${name}`;
		collect(valueOf(before, name), valueOf(after, name), `${path}${step}`, found, most);
	}
}

function valueOf(value: object, name: string): unknown {
	return Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
}

function isInner(value: unknown): value is object {
	return typeof value === 'object' && value !== null;
}

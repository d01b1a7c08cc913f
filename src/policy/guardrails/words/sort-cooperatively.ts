/** Items that are sorted or moved between two pauses. */
const itemsPerStep = 500;

/** Sorts many items in steps, unlike `toSorted`. The order of equal items is stable. */
export function* sortInSteps<Item>(items: readonly Item[], compare: (one: Item, other: Item) => number): Generator<void, readonly Item[]> {
	let runs: (readonly Item[])[] = [];
	for (let start = 0; start < items.length; start += itemsPerStep) {
		runs.push(items.slice(start, start + itemsPerStep).toSorted(compare));
		yield;
	}
	while (runs.length > 1) {
		const merged: (readonly Item[])[] = [];
		for (let index = 0; index < runs.length; index += 2) merged.push(yield* merge(runs[index] ?? [], runs[index + 1] ?? [], compare));
		runs = merged;
	}
	return runs[0] ?? [];
}

function* merge<Item>(
	ones: readonly Item[],
	others: readonly Item[],
	compare: (one: Item, other: Item) => number,
): Generator<void, readonly Item[]> {
	if (others.length === 0) return ones;
	const merged: Item[] = [];
	let at = 0;
	for (const [index, one] of ones.entries()) {
		for (let other = others[at]; other !== undefined && compare(other, one) < 0; other = others[++at]) {
			merged.push(other);
			if (at % itemsPerStep === 0) yield;
		}
		merged.push(one);
		if (index % itemsPerStep === 0) yield;
	}
	for (; at < others.length; at++) {
		const other = others[at];
		if (other !== undefined) merged.push(other);
		if (at % itemsPerStep === 0) yield;
	}
	return merged;
}

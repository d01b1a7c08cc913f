/** Returns the known name that was probably meant: another spelling, or a few letters different. Undefined when none is close. */
export function nearestName(name: string, known: Iterable<string>): string | undefined {
	const wanted = normalise(name);
	let best: string | undefined;
	let bestDistance = Math.max(1, Math.floor(wanted.length / 3)) + 1;
	for (const candidate of known) {
		const distance = editDistance(wanted, normalise(candidate), bestDistance);
		if (distance < bestDistance) {
			best = candidate;
			bestDistance = distance;
		}
	}
	return best;
}

/** `maxBodyBytes` and `max-body-bytes` become `max_body_bytes`. */
function normalise(name: string): string {
	return name.slice(0, 64).toLowerCase().replaceAll(/[-_]/g, '');
}

/** Number of insertions, deletions, replacements and swaps of neighbours, at most `limit`. */
function editDistance(a: string, b: string, limit: number): number {
	if (Math.abs(a.length - b.length) >= limit) return limit;
	let beforeLast: number[] = [];
	let last = Array.from({ length: b.length + 1 }, (_, index) => index);
	for (let i = 1; i <= a.length; i += 1) {
		const row = [i];
		for (let j = 1; j <= b.length; j += 1) {
			const isSame = a[i - 1] === b[j - 1];
			let cost = Math.min((last[j] ?? limit) + 1, (row[j - 1] ?? limit) + 1, (last[j - 1] ?? limit) + (isSame ? 0 : 1));
			if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) cost = Math.min(cost, (beforeLast[j - 2] ?? limit) + 1);
			row.push(cost);
		}
		beforeLast = last;
		last = row;
	}
	return Math.min(last[b.length] ?? limit, limit);
}

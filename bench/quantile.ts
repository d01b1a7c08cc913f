export function quantile(samples: readonly number[], share: number): number {
	const sorted = samples.toSorted((a, b) => a - b);
	return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

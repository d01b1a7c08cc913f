const msPerDay = 86_400_000;

/** Returns the number of UTC days since 1970. */
export function dayNumberOf(unixMs: number): number {
	return Math.floor(unixMs / msPerDay);
}

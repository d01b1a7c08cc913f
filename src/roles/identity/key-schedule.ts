/** When signing keys are published, sign, and are replaced. Pure: keys and the time in, verdict out. */

/** The times of a key; see `SigningKeyRecord`. */
export interface KeyTimes {
	readonly activeFromMs: number;
	readonly retiredAtMs: number | null;
}

export interface KeySchedule {
	readonly rotationMs: number;
	readonly overlapMs: number;
	readonly accessTokenMs: number;
}

/** What is published now: also the key that will sign next, and those whose tokens still live. */
export function publishedKeys<Key extends KeyTimes>(keys: readonly Key[], nowMs: number): Key[] {
	return keys.filter(({ retiredAtMs }) => retiredAtMs === null || retiredAtMs > nowMs);
}

/** The newest that is active; before any is (the clock went back), the oldest. @param keys oldest first. */
export function signingKey<Key extends KeyTimes>(keys: readonly Key[], nowMs: number): Key | undefined {
	return keys.findLast(({ activeFromMs }) => activeFromMs <= nowMs) ?? keys[0];
}

/** When the next key has to be made. */
export function nextRotationMs(newest: KeyTimes, { rotationMs, overlapMs }: KeySchedule): number {
	return newest.activeFromMs + rotationMs - overlapMs;
}

/** The times of a key made now, and when the one before it has served. */
export function planRotation(
	newest: KeyTimes | undefined,
	nowMs: number,
	{ rotationMs, overlapMs, accessTokenMs }: KeySchedule,
): { activeFromMs: number; newestRetiresAtMs: number } {
	// Nobody holds an older key set than the first.
	const activeFromMs = newest === undefined ? nowMs : Math.max(nowMs + overlapMs, newest.activeFromMs + rotationMs);
	return { activeFromMs, newestRetiresAtMs: activeFromMs + accessTokenMs + overlapMs };
}

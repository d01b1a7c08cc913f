/** Schedule of signing keys: when they are published, sign, and are replaced. Pure: depends only on keys and time. */

/** Times of a key; see `SigningKeyRecord`. */
export interface KeyTimes {
	readonly activeFromMs: number;
	readonly retiredAtMs: number | null;
}

export interface KeySchedule {
	readonly rotationMs: number;
	readonly overlapMs: number;
	readonly accessTokenMs: number;
}

/** Returns the keys to publish now, including the next signing key and keys whose tokens are still valid. */
export function publishedKeys<Key extends KeyTimes>(keys: readonly Key[], nowMs: number): Key[] {
	return keys.filter(({ retiredAtMs }) => retiredAtMs === null || retiredAtMs > nowMs);
}

/** Returns the newest active key; before any is active (the clock went back), the oldest. @param keys oldest first. */
export function signingKey<Key extends KeyTimes>(keys: readonly Key[], nowMs: number): Key | undefined {
	return keys.findLast(({ activeFromMs }) => activeFromMs <= nowMs) ?? keys[0];
}

/** Returns when the next key must be generated. */
export function nextRotationMs(newest: KeyTimes, { rotationMs, overlapMs }: KeySchedule): number {
	return newest.activeFromMs + rotationMs - overlapMs;
}

/** Returns the start of a key generated now, and the end of its predecessor. */
export function planRotation(
	newest: KeyTimes | undefined,
	nowMs: number,
	{ rotationMs, overlapMs, accessTokenMs }: KeySchedule,
): { activeFromMs: number; newestRetiresAtMs: number } {
	// No client has a key set without the first key, so it is active immediately.
	const activeFromMs = newest === undefined ? nowMs : Math.max(nowMs + overlapMs, newest.activeFromMs + rotationMs);
	return { activeFromMs, newestRetiresAtMs: activeFromMs + accessTokenMs + overlapMs };
}

/**
 * Map whose entries expire one to two spans after their last use. Two generations make expiry the drop of one map, without a visit to each
 * entry.
 */
export class TtlMap<Key, Value> {
	private readonly spanMs: number;
	private young = new Map<Key, Value>();
	private old = new Map<Key, Value>();
	private turnedMs = -Infinity;

	constructor(spanMs: number) {
		this.spanMs = spanMs;
	}

	get(key: Key, nowMs: number): Value | undefined {
		this.turn(nowMs);
		const young = this.young.get(key);
		if (young !== undefined) return young;
		const old = this.old.get(key);
		if (old !== undefined) this.young.set(key, old);
		return old;
	}

	set(key: Key, value: Value, nowMs: number): void {
		this.turn(nowMs);
		this.young.set(key, value);
	}

	clear(): void {
		this.young.clear();
		this.old.clear();
	}

	private turn(nowMs: number): void {
		const ageMs = nowMs - this.turnedMs;
		if (ageMs >= 0 && ageMs < this.spanMs) return;
		this.old = ageMs < 2 * this.spanMs ? this.young : new Map<Key, Value>();
		this.young = new Map();
		this.turnedMs = nowMs;
	}
}

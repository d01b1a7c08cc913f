/** Chance that can be repeated: the same seed gives the same sequence. */
export interface SeededRandom {
	/** At least 0, below 1. */
	next(): number;
	/** Both ends included. */
	integer(least: number, most: number): number;
	pick<T>(values: readonly T[], otherwise: T): T;
	/** So many characters of `0-9A-Za-z`. */
	letters(length: number): string;
}

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

export function createSeededRandom(seed: number): SeededRandom {
	let state = seed >>> 0;
	// mulberry32: 32 bits of state, enough for text and padding.
	const next = (): number => {
		state = (state + 0x6d2b79f5) >>> 0;
		let mixed = Math.imul(state ^ (state >>> 15), state | 1);
		mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
	};
	return {
		next,
		integer: (least, most) => least + Math.floor(next() * (most - least + 1)),
		pick: (values, otherwise) => values[Math.floor(next() * values.length)] ?? otherwise,
		letters(length) {
			let text = '';
			for (let index = 0; index < length; index++) text += alphabet.charAt(Math.floor(next() * alphabet.length));
			return text;
		},
	};
}

/** FNV-1a over the UTF-16 units, continued from `from`. Not for secrets. */
export function hashText(text: string, from = 0x811c9dc5): number {
	let hash = from;
	for (let index = 0; index < text.length; index++) {
		hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
	}
	return hash >>> 0;
}

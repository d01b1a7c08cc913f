/** Repeatable randomness: the same seed gives the same sequence. */
export interface SeededRandom {
	/** Returns a number from 0 to below 1. */
	next(): number;
	/** Returns an integer, both bounds included. */
	integer(min: number, max: number): number;
	pick<T>(values: readonly T[], otherwise: T): T;
	/** Returns `length` characters of `0-9A-Za-z`. */
	letters(length: number): string;
}

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

export function createSeededRandom(seed: number): SeededRandom {
	let state = seed >>> 0;
	// mulberry32 has 32 bits of state, enough for text and padding.
	const next = (): number => {
		state = (state + 0x6d2b79f5) >>> 0;
		let mixed = Math.imul(state ^ (state >>> 15), state | 1);
		mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
	};
	return {
		next,
		integer: (min, max) => min + Math.floor(next() * (max - min + 1)),
		pick: (values, otherwise) => values[Math.floor(next() * values.length)] ?? otherwise,
		letters(length) {
			let text = '';
			for (let index = 0; index < length; index++) text += alphabet.charAt(Math.floor(next() * alphabet.length));
			return text;
		},
	};
}

/** Hashes UTF-16 units with FNV-1a, continued from `from`. Unsuitable for secrets. */
export function hashText(text: string, from = 0x811c9dc5): number {
	let hash = from;
	for (let index = 0; index < text.length; index++) {
		hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
	}
	return hash >>> 0;
}

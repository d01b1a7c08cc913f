/** Generates numbers from 0 to 1 from a seed (Marsaglia's xorshift, 32 bits). */
export function seededNumbers(seed: number): () => number {
	let state = seed >>> 0 || 1;
	return () => {
		state ^= state << 13;
		state ^= state >>> 17;
		state ^= state << 5;
		return (state >>> 0) / 2 ** 32;
	};
}

/** Changes a text by one bit or byte: changed, removed, inserted, doubled or swapped. Latin-1. */
export function mutate(text: string, next: () => number): string {
	const bytes = Buffer.from(text, 'latin1');
	const at = Math.floor(next() * bytes.length);
	const value = bytes[at] ?? 0;
	const splice = (removed: number, ...added: number[]): string =>
		Buffer.concat([bytes.subarray(0, at), Buffer.from(added), bytes.subarray(at + removed)]).toString('latin1');
	switch (Math.floor(next() * 6)) {
		case 0:
			return splice(1, value ^ (1 << Math.floor(next() * 8)));
		case 1:
			return splice(1, Math.floor(next() * 256));
		case 2:
			return splice(1);
		case 3:
			return splice(0, Math.floor(next() * 256));
		case 4:
			return splice(0, value);
		default:
			return splice(2, bytes[at + 1] ?? 0, value);
	}
}

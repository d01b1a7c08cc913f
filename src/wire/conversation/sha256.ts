/** Fractional parts of primes (FIPS 180-4 section 4.2.2), computed instead of listed. */
const { rounds, initial } = constants();
const words = new Int32Array(64);

/**
 * Returns the SHA-256 (FIPS 180-4) of a text in UTF-8, in hexadecimal. Implemented here because this folder uses no platform API; for short
 * texts.
 */
export function sha256Hex(text: string): string {
	const bytes = Buffer.from(text);
	const length = (((bytes.length + 8) >>> 6) + 1) << 6;
	const padded = Buffer.alloc(length);
	bytes.copy(padded);
	padded[bytes.length] = 0x80;
	padded.writeUInt32BE(Math.floor(bytes.length / 0x2000_0000), length - 8);
	padded.writeUInt32BE((bytes.length << 3) >>> 0, length - 4);
	const state = Int32Array.from(initial);
	for (let offset = 0; offset < length; offset += 64) addBlock(state, padded, offset);
	const digest = Buffer.alloc(32);
	for (let at = 0; at < 8; at++) digest.writeInt32BE(state[at] ?? 0, at * 4);
	return digest.toString('hex');
}

function addBlock(state: Int32Array, bytes: Buffer, offset: number): void {
	const word = (at: number): number => words[at] ?? 0;
	for (let at = 0; at < 16; at++) words[at] = bytes.readInt32BE(offset + at * 4);
	for (let at = 16; at < 64; at++) {
		const early = word(at - 15);
		const late = word(at - 2);
		const first = rotate(early, 7) ^ rotate(early, 18) ^ (early >>> 3);
		const second = rotate(late, 17) ^ rotate(late, 19) ^ (late >>> 10);
		words[at] = word(at - 16) + first + word(at - 7) + second;
	}
	let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state;
	for (let at = 0; at < 64; at++) {
		const sum = (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & f) ^ (~e & g)) + h + (rounds[at] ?? 0) + word(at);
		const more = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
		[h, g, f, e, d, c, b, a] = [g, f, e, (d + sum) | 0, c, b, a, (sum + more) | 0];
	}
	for (const [at, value] of [a, b, c, d, e, f, g, h].entries()) state[at] = (state[at] ?? 0) + value;
}

function rotate(value: number, by: number): number {
	return (value >>> by) | (value << (32 - by));
}

function constants(): { rounds: Int32Array; initial: Int32Array } {
	const primes: number[] = [];
	for (let candidate = 2; primes.length < 64; candidate++) if (primes.every((prime) => candidate % prime !== 0)) primes.push(candidate);
	const fraction = (root: number): number => Math.floor((root - Math.floor(root)) * 2 ** 32) | 0;
	return {
		rounds: Int32Array.from(primes, (prime) => fraction(Math.cbrt(prime))),
		initial: Int32Array.from(primes.slice(0, 8), (prime) => fraction(Math.sqrt(prime))),
	};
}

/**
 * Cuts text that arrives in pieces into words, and hashes each word to a number. Training and scoring share it, because its definition of a
 * word is part of the weights' meaning.
 */
import { maxUnits, unitsOf } from '../folding/code-units.ts';

/** Special values of the table next to folded characters. */
const separator = 0;
const ignored = 1;
/** Values from here on are words of their own: ideographs, kana, emoji and the letters of scripts without spaces. */
const aloneFrom = 0x10000;

let sharedTable: Int32Array | undefined;

/** Builds the table of folded code units. Case, width and accents are removed; all digits become one. */
function foldingTable(): Int32Array {
	if (sharedTable !== undefined) return sharedTable;
	const table = new Int32Array(0x10000);
	for (let unit = 0; unit < table.length; unit++) table[unit] = foldUnit(unit);
	sharedTable = table;
	return table;
}

function foldUnit(unit: number): number {
	if (unit >= 0xd800 && unit < 0xe000) return unit < 0xdc00 ? separator : aloneFrom + unit;
	if (unit >= 0xac00 && unit < 0xd7b0) return unit;
	const character = String.fromCharCode(unit);
	if (/[\p{M}\p{Cf}'’ʼ]/u.test(character)) return ignored;
	const [folded = ''] = character.normalize('NFKD').toLowerCase();
	if (/\p{Nd}/u.test(folded)) return 0x30;
	// Of the symbols only pictures have a meaning.
	if (!/\p{L}/u.test(folded) && !(unit >= 0x2600 && unit < 0x27c0)) return separator;
	const code = folded.charCodeAt(0);
	return isUnspaced(code) ? aloneFrom + code : code;
}

/** Covers Thai to Myanmar, Khmer, pictures, kana and ideographs. */
function isUnspaced(code: number): boolean {
	return (code >= 0x0e00 && code < 0x10a0) || (code >= 0x1780 && code < 0x1800) || (code >= 0x2600 && code < 0xac00) || code >= 0xf900;
}

const hashSeed = 0x811c9dc5 | 0;
const hashPrime = 0x01000193;

/** Finishes a word's running hash, so that all of its bits depend on all characters. */
export function finishHash(running: number): number {
	let hash = running;
	hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
	hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
	return hash ^ (hash >>> 16);
}

export interface WordSink {
	/** @param hashes of words, the first `count`; valid only during this invocation. */
	words(hashes: Int32Array, count: number): void;
}

/** Shared buffer of the latest words, because each reader delivers them before another reads. A character can end a word and be one. */
const hashes = new Int32Array(2 * maxUnits);

export class WordReader {
	readonly #sink: WordSink;
	readonly #table = foldingTable();
	/** Running hash of the incomplete word. */
	#running = hashSeed;
	/** Last unit of the word; 0 between words. */
	#last = 0;
	#before = 0;

	constructor(sink: WordSink) {
		this.#sink = sink;
	}

	/** Reads `text` from `start` up to `end`. A word at the end can continue in the next piece. */
	read(text: string, start = 0, end = text.length): void {
		for (let at = start; at < end; at += maxUnits) {
			const next = Math.min(end, at + maxUnits);
			this.#readUnits(unitsOf(text, at, next), next - at);
		}
	}

	#readUnits(units: Uint16Array, length: number): void {
		const table = this.#table;
		let running = this.#running;
		let last = this.#last;
		let before = this.#before;
		let count = 0;
		for (let at = 0; at < length; at++) {
			const unit = table[units[at] as number] as number;
			if (unit > ignored && unit < aloneFrom) {
				// The third and later equal letters in a row are only emphasis.
				if (unit !== last || unit !== before) running = Math.imul(running ^ unit, hashPrime);
				before = last;
				last = unit;
			} else if (unit !== ignored) {
				if (last !== 0) hashes[count++] = finishHash(running);
				if (unit >= aloneFrom) hashes[count++] = finishHash(Math.imul(hashSeed ^ unit, hashPrime));
				running = hashSeed;
				last = 0;
				before = 0;
			}
		}
		this.#running = running;
		this.#last = last;
		this.#before = before;
		if (count > 0) this.#sink.words(hashes, count);
	}

	/** Ends the text and its last word. */
	end(): void {
		if (this.#last === 0) return;
		hashes[0] = finishHash(this.#running);
		this.#running = hashSeed;
		this.#last = 0;
		this.#before = 0;
		this.#sink.words(hashes, 1);
	}
}

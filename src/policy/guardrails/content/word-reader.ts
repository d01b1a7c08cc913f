/**
 * Cuts text that comes in pieces into words, and a word into one number. Training and scoring both read with it: what it
 * takes for a word is part of the weights' meaning.
 */

/** Beside folded characters, the table says what else a code unit may be. */
const separator = 0;
const ignored = 1;
/** From here on the unit is a word of its own: ideographs, kana, emoji and the letters of scripts that set no spaces. */
const aloneFrom = 0x10000;

let sharedTable: Uint32Array | undefined;

/** What a code unit is read as. Case, width and accents are folded away; all digits are one. */
function foldingTable(): Uint32Array {
	if (sharedTable !== undefined) return sharedTable;
	const table = new Uint32Array(0x10000);
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
	// Of the symbols only pictures mean something.
	if (!/\p{L}/u.test(folded) && !(unit >= 0x2600 && unit < 0x27c0)) return separator;
	const code = folded.charCodeAt(0);
	return isUnspaced(code) ? aloneFrom + code : code;
}

/** Thai to Myanmar, Khmer, pictures, kana and ideographs. */
function isUnspaced(code: number): boolean {
	return (code >= 0x0e00 && code < 0x10a0) || (code >= 0x1780 && code < 0x1800) || (code >= 0x2600 && code < 0xac00) || code >= 0xf900;
}

const hashSeed = 0x811c9dc5 | 0;
const hashPrime = 0x01000193;

/** Of a whole word's running hash, so that all of its bits depend on all characters. */
export function finishHash(running: number): number {
	let hash = running;
	hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
	hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
	return hash ^ (hash >>> 16);
}

/** Given each word's hash. */
export interface WordSink {
	word(hash: number): void;
}

export class WordReader {
	readonly #sink: WordSink;
	readonly #table = foldingTable();
	/** Of the word that has begun. */
	#running = hashSeed;
	#isInWord = false;
	#last = 0;
	#before = 0;

	constructor(sink: WordSink) {
		this.#sink = sink;
	}

	/** Reads `text` from `start` up to `end`. A word that it ends in may go on in the next piece. */
	read(text: string, start = 0, end = text.length): void {
		const table = this.#table;
		const sink = this.#sink;
		let running = this.#running;
		let isInWord = this.#isInWord;
		let last = this.#last;
		let before = this.#before;
		for (let at = start; at < end; at++) {
			const unit = table[text.charCodeAt(at)] ?? separator;
			if (unit > ignored && unit < aloneFrom) {
				// The third and every further of a row of equal letters is only emphasis.
				if (unit !== last || unit !== before) running = Math.imul(running ^ unit, hashPrime);
				before = last;
				last = unit;
				isInWord = true;
			} else if (unit !== ignored) {
				if (isInWord) sink.word(finishHash(running));
				if (unit >= aloneFrom) sink.word(finishHash(Math.imul(hashSeed ^ unit, hashPrime)));
				running = hashSeed;
				isInWord = false;
				last = 0;
				before = 0;
			}
		}
		this.#running = running;
		this.#isInWord = isInWord;
		this.#last = last;
		this.#before = before;
	}

	/** The text is over: the word that it ends in, too. */
	end(): void {
		if (this.#isInWord) this.#sink.word(finishHash(this.#running));
		this.#running = hashSeed;
		this.#isInWord = false;
		this.#last = 0;
		this.#before = 0;
	}
}

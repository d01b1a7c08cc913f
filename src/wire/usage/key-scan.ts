/**
 * Scans the members of one JSON text and stops at those with wanted names, at any depth. Strings are not decoded: an escaped key is not
 * found. No text can look like a key, because its quotes are escaped.
 */
import { endOfString } from '../json/scan-members.ts';

const quote = 0x22;
const colon = 0x3a;
const openBrace = 0x7b;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const closeBrace = 0x7d;
const lastAscii = 0x7f;
/** Clears the bit that distinguishes `{` from `[` and `}` from `]`. */
const asBracket = 0xdf;

/** Names to find. Created once for many scans. */
export class WantedKeys {
	readonly names: readonly string[];
	readonly #named: { readonly bytes: Buffer; readonly index: number }[][] = [];

	constructor(names: readonly string[]) {
		this.names = names;
		for (const [index, name] of names.entries()) {
			const bytes = Buffer.from(name);
			(this.#named[bytes.length] ??= []).push({ bytes, index });
		}
	}

	/** @returns the index of the name at this range; -1 if there is none. */
	find(bytes: Buffer, start: number, end: number): number {
		const candidates = this.#named[end - start];
		if (candidates === undefined) return -1;
		for (const { bytes: name, index } of candidates) if (isAt(bytes, start, name)) return index;
		return -1;
	}
}

function isAt(bytes: Buffer, start: number, name: Buffer): boolean {
	for (let at = 0; at < name.length; at++) if (bytes[start + at] !== name[at]) return false;
	return true;
}

const nothing = Buffer.alloc(0);

export class KeyScan {
	/** Index of the name at which the scan has stopped. */
	name = 0;
	/** Offset of the key's opening quote. */
	keyStart = 0;
	/** Offset of the value's first byte. */
	valueStart = 0;
	/** Number of enclosing objects and arrays: 1 at the top level. */
	depth = 0;

	readonly #wanted: WantedKeys;
	#bytes: Buffer = nothing;
	#from = 0;
	#at = 0;
	#end = 0;
	/** Offset after the bracket that closes the text's first one; -1 if it is still open. */
	#closedAt = -1;

	constructor(wanted: WantedKeys) {
		this.#wanted = wanted;
	}

	start(bytes: Buffer, from: number, end: number): void {
		this.#bytes = bytes;
		this.#from = from;
		this.#at = from;
		this.#end = end;
		this.#closedAt = -1;
		this.depth = 0;
	}

	/** @returns true if another member was found. */
	next(): boolean {
		const bytes = this.#bytes;
		const end = this.#end;
		let at = this.#at;
		let { depth } = this;
		while (at < end) {
			const byte = bytes[at++] ?? 0;
			if (byte === quote) {
				const keyStart = at - 1;
				at = endOfString(bytes, at, end);
				const afterKey = bytes[at] === colon ? at : skipSpace(bytes, at, end);
				if (bytes[afterKey] !== colon || afterKey >= end) continue;
				const name = this.#wanted.find(bytes, keyStart + 1, at - 1);
				if (name === -1) continue;
				this.name = name;
				this.keyStart = keyStart;
				this.valueStart = skipSpace(bytes, afterKey + 1, end);
				this.#at = this.valueStart;
				this.depth = depth;
				return true;
			}
			if (byte < openBracket) continue;
			const bracket = byte & asBracket;
			if (bracket === openBracket) depth++;
			else if (bracket === closeBracket && --depth === 0 && this.#closedAt === -1) this.#closedAt = at;
		}
		this.#at = at;
		return false;
	}

	/**
	 * Call after the last member. True if the text is one object from its first brace to its last, judged by brackets and strings only.
	 * Pages, lists and truncated texts are detected at no extra cost.
	 */
	isWholeObject(): boolean {
		const bytes = this.#bytes;
		const [closedAt, end] = [this.#closedAt, this.#end];
		if (closedAt === -1 || bytes[skipSpace(bytes, this.#from, end)] !== openBrace) return false;
		return bytes[closedAt - 1] === closeBrace && skipSpace(bytes, closedAt, end) === end;
	}

	/** Returns the end of the object or array that is the value of the current member; -1 if it does not end. */
	valueEnd(): number {
		return endOfBrackets(this.#bytes, this.valueStart, this.#end);
	}

	/**
	 * Skips the object that is the value of the current member. @returns the number of bytes between its braces; -1 if it is not an object.
	 */
	skipObject(): number {
		if (this.#bytes[this.valueStart] !== openBrace || this.valueStart >= this.#end) return -1;
		const objectEnd = this.valueEnd();
		if (objectEnd === -1) return -1;
		this.#at = objectEnd;
		return objectEnd - this.valueStart - 2;
	}

	/** Skips the string value of the current member. @returns its length in bytes; -1 if it is not a string. */
	skipText(): number {
		if (this.#bytes[this.valueStart] !== quote || this.valueStart >= this.#end) return -1;
		const textStart = this.valueStart + 1;
		this.#at = endOfString(this.#bytes, textStart, this.#end);
		const isClosed = this.#at > textStart && this.#bytes[this.#at - 1] === quote;
		return this.#at - textStart - (isClosed ? 1 : 0);
	}

	/** Returns the number of bytes beyond ASCII in the value that was skipped last. @param length returned by `skipText` or `skipObject`. */
	otherBytes(length: number): number {
		const bytes = this.#bytes;
		let others = 0;
		for (let at = this.valueStart + 1; at <= this.valueStart + length; at++) if ((bytes[at] ?? 0) > lastAscii) others++;
		return others;
	}
}

/**
 * @param from offset of the first byte of an object or array. @returns the offset after its last byte; -1 if it does not end before `end`.
 */
function endOfBrackets(bytes: Buffer, from: number, end: number): number {
	let depth = 0;
	for (let at = from; at < end; at++) {
		const byte = bytes[at] ?? 0;
		if (byte === quote) at = endOfString(bytes, at + 1, end) - 1;
		else if (byte >= openBracket) {
			const bracket = byte & asBracket;
			if (bracket === openBracket) depth++;
			else if (bracket === closeBracket && --depth === 0) return at + 1;
		}
	}
	return -1;
}

export function skipSpace(bytes: Buffer, from: number, end: number): number {
	let at = from;
	while (at < end && (bytes[at] === 0x20 || bytes[at] === 0x09 || bytes[at] === 0x0a || bytes[at] === 0x0d)) at++;
	return at;
}

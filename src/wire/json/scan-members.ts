/**
 * Finds the ranges of a JSON object's members in its bytes, in one pass and without decoding strings. It does not validate: results for
 * bytes that `JSON.parse` rejects are meaningless.
 */
import { Rejection } from '../../core/rejection.ts';

/** Deeper bodies are rejected, because libraries of the provider and the gateway recurse, and stacks are limited. */
export const maxDepth = 64;

/**
 * Bodies with more values are rejected. The cost of parsing and storing a body depends on its values, not its bytes: ten million empty
 * lists fit into 30 MB and block the only thread for seconds. A conversation of 100,000 messages has 300,000 values.
 */
export const maxValues = 500_000;

/** Offsets of a value in the body, without surrounding whitespace; `end` is exclusive. */
export interface ByteRange {
	readonly start: number;
	readonly end: number;
}

export interface ScannedMembers {
	/** Ranges of the wanted members' values, by name. */
	readonly ranges: ReadonlyMap<string, ByteRange>;
	/** Number of members at the top level, including duplicates. */
	readonly count: number;
	/** A wanted name that occurs more than once. */
	readonly repeated: string | undefined;
	/** Keys at any depth that contain escapes, quotes included. */
	readonly escapedKeys: readonly ByteRange[];
	/** Ranges of long strings without escapes, without their quotes; none of them is a key. */
	readonly longStrings: readonly ByteRange[];
	/** True if a number has so many consecutive digits that a double may not represent it. */
	readonly hasLongNumber: boolean;
}

// Each file that scans bytes declares these constants itself: imported ones would be read from memory for every byte.
const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;

/** A double represents every integer of fewer digits. */
const longNumberDigits = 16;

/** No value has more. Parsing a number of millions of digits takes a tenth of a second. */
const maxDigits = 1000;

/**
 * Most strings end within this many bytes; beyond, a native search is faster than a loop. In texts full of escaped quotes each search ends
 * at the next quote, so after each unsuccessful search the loop runs for twice as long.
 */
const nearBytes = 48;
/** A longer key matches no wanted one, even with each character escaped; no message quotes it. */
const maxKeyBytes = 128;

/** Shorter strings are parsed as fast as they are cut out. */
const longStringBytes = 32_768;

/** @throws `Rejection` `body_too_deep`; `body_too_large` for too many values. */
export function scanMembers(bytes: Buffer, wanted: ReadonlySet<string>): ScannedMembers {
	const ranges = new Map<string, ByteRange>();
	const escapedKeys: ByteRange[] = [];
	const longStrings: ByteRange[] = [];
	let repeated: string | undefined;
	let count = 0;
	let values = 0;
	let depth = 0;
	let stringStart = 0;
	let stringEnd = 0;
	let key: string | undefined;
	let keyStart = -1;
	let valueStart = 0;
	let digits = 0;
	let lastDigit = 0;
	let hasLongNumber = false;

	for (let at = 0; at < bytes.length; at++) {
		switch (bytes[at]) {
			case quote:
				stringStart = at;
				stringEnd = endOfString(bytes, at + 1);
				at = stringEnd - 1;
				if (stringEnd - stringStart > longStringBytes && isPlain(bytes, stringStart + 1, at)) {
					longStrings.push({ start: stringStart + 1, end: at });
				}
				break;
			case openBrace:
			case openBracket:
				depth++;
				values++;
				if (depth > maxDepth) throw tooDeep(bytes, keyStart);
				break;
			case closeBrace:
			case closeBracket:
				if (depth === 1 && key !== undefined) {
					if (ranges.has(key)) repeated = key;
					ranges.set(key, trimmed(bytes, valueStart, at));
					key = undefined;
				}
				depth--;
				break;
			case colon: {
				// The string before a colon is a key. It is checked once: valid JSON has no two colons after it, but a client's text may.
				if (stringEnd === 0) break;
				if (longStrings.at(-1)?.start === stringStart + 1) longStrings.pop();
				const isEscaped = hasBackslash(bytes, stringStart, stringEnd);
				if (isEscaped) escapedKeys.push({ start: stringStart, end: stringEnd });
				if (depth === 1) {
					count++;
					keyStart = stringStart;
					key = wantedKey(bytes, stringStart, stringEnd, isEscaped, wanted);
					valueStart = at + 1;
				}
				stringEnd = 0;
				if (count > maxValues || escapedKeys.length > maxValues) throw tooManyValues();
				break;
			}
			case comma:
				if (depth === 1 && key !== undefined) {
					if (ranges.has(key)) repeated = key;
					ranges.set(key, trimmed(bytes, valueStart, at));
					key = undefined;
				}
				values++;
				if (values > maxValues) throw tooManyValues();
				break;
			default:
				if (!isDigit(bytes[at])) break;
				digits = lastDigit === at - 1 ? digits + 1 : 1;
				lastDigit = at;
				if (digits === longNumberDigits) hasLongNumber = true;
				else if (digits > maxDigits) throw tooManyDigits();
		}
	}
	return { ranges, count, repeated, escapedKeys, longStrings, hasLongNumber };
}

/** @param keyStart offset of the enclosing key at the top level; -1 if there is none. */
function tooDeep(bytes: Buffer, keyStart: number): Rejection {
	const key = { start: keyStart, end: keyStart === -1 ? -1 : endOfString(bytes, keyStart + 1) };
	const name = key.end - key.start > maxKeyBytes ? undefined : readKey(bytes, key);
	return new Rejection('body_too_deep', {
		message: `${name === undefined ? 'The body' : `\`${name}\``} is nested deeper than ${maxDepth} levels: flatten it`,
		...(name !== undefined && { param: name }),
	});
}

function tooManyValues(): Rejection {
	return new Rejection('body_too_large', { message: `The body has more than ${maxValues} values: send fewer` });
}

function tooManyDigits(): Rejection {
	return new Rejection('body_too_large', { message: `A number has more than ${maxDigits} digits: send fewer` });
}

/** @returns the offset after the closing quote of the string whose content begins at `from`; `end` if there is no quote before it. */
export function endOfString(bytes: Buffer, from: number, end = bytes.length): number {
	let at = from;
	for (let loopBytes = nearBytes; at < end; loopBytes *= 2) {
		const near = Math.min(at + loopBytes, end);
		for (; at < near; at++) {
			const byte = bytes[at];
			if (byte === quote) return at + 1;
			if (byte === backslash) at++;
		}
		const found = bytes.indexOf(quote, at);
		if (found === -1 || found >= end) return end;
		let before = found - 1;
		while (before >= at && bytes[before] === backslash) before--;
		const isEscaped = (found - before) % 2 === 0;
		if (!isEscaped) return found + 1;
		at = found + 1;
	}
	return end;
}

function wantedKey(bytes: Buffer, start: number, end: number, isEscaped: boolean, wanted: ReadonlySet<string>): string | undefined {
	if (end - start > maxKeyBytes) return undefined;
	if (isEscaped) {
		const key = readKey(bytes, { start, end });
		return key !== undefined && wanted.has(key) ? key : undefined;
	}
	// Few keys are wanted: comparing bytes costs less than creating a string for each key.
	for (const name of wanted) if (name.length === end - start - 2 && isAt(bytes, start + 1, name)) return name;
	return undefined;
}

function isAt(bytes: Buffer, start: number, name: string): boolean {
	for (let at = 0; at < name.length; at++) if (bytes[start + at] !== name.charCodeAt(at)) return false;
	return true;
}

/** True for a closed string without escapes. */
function isPlain(bytes: Buffer, start: number, end: number): boolean {
	return bytes[end] === quote && !bytes.subarray(start, end).includes(backslash);
}

/** @param range with the quotes. @returns undefined if it is not a JSON string. */
export function readKey(bytes: Buffer, { start, end }: ByteRange): string | undefined {
	try {
		return JSON.parse(bytes.toString('utf8', start, end)) as string;
	} catch {
		return undefined;
	}
}

function hasBackslash(bytes: Buffer, start: number, end: number): boolean {
	for (let at = start; at < end; at++) if (bytes[at] === backslash) return true;
	return false;
}

function trimmed(bytes: Buffer, from: number, to: number): ByteRange {
	let start = from;
	let end = to;
	while (start < end && isWhitespace(bytes[start])) start++;
	while (end > start && isWhitespace(bytes[end - 1])) end--;
	return { start, end };
}

function isDigit(byte: number | undefined): boolean {
	return byte !== undefined && byte >= 0x30 && byte <= 0x39;
}

function isWhitespace(byte: number | undefined): boolean {
	return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

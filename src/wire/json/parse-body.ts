import type { CooperativeTask } from '../../core/cooperative-task.ts';
import { Rejection } from '../../core/rejection.ts';
import { type BodyText, readBodyText } from './body-text.ts';
import { parseExactly } from './exact-json.ts';
import { type ByteRange, readKey, type ScannedMembers, scanMembers } from './scan-members.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

/** A body as received, and its parsed members. */
export interface JsonBody {
	readonly bytes: Buffer;
	readonly isAscii: boolean;
	readonly members: JsonObject;
	/** Ranges of the values of wanted top-level members in `bytes`. */
	readonly ranges: ReadonlyMap<string, ByteRange>;
	/** Returns the members with all digits of integers beyond the precision of a double; undefined if there are none. */
	readonly readExactly?: (() => JsonObject) | undefined;
}

/**
 * Parses a body that must be one JSON object in strict UTF-8. Duplicate top-level members are rejected: parsers differ in which of the two
 * they use, and the provider must see the request that was judged.
 * @throws `Rejection` `body_not_utf8`, `body_too_deep`, `body_too_large` (too many values), `body_not_json`, `field_invalid` (duplicate
 * member).
 */
export function parseBody(bytes: Buffer, wanted: ReadonlySet<string>): JsonBody {
	return readScanned(bytes, scanBody(bytes, wanted));
}

/** Parses like `parseBody`, in steps, for bodies that may be large. */
export function* parsingSteps(bytes: Buffer, wanted: ReadonlySet<string>): CooperativeTask<JsonBody> {
	const scanned = scanBody(bytes, wanted);
	yield;
	return readScanned(bytes, scanned);
}

function scanBody(bytes: Buffer, wanted: ReadonlySet<string>): ScannedMembers {
	if (bytes.length === 0) throw new Rejection('body_not_json', { message: 'The body is empty: send one JSON object' });
	if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) {
		throw new Rejection('body_not_utf8', { message: 'The body begins with a byte-order mark: send it without' });
	}
	return scanMembers(bytes, wanted);
}

function readScanned(bytes: Buffer, { ranges, count, repeated, escapedKeys, longStrings, hasLongNumber }: ScannedMembers): JsonBody {
	const text = readBodyText(bytes, escapedKeys.length === 0 ? longStrings : []);
	const plainBytes = escapedKeys.length === 0 ? bytes : withPlainKeys(bytes, escapedKeys);
	const plain = plainBytes === bytes ? text : readBodyText(plainBytes, []);
	const members = parseObject(plain, JSON.parse);
	if (repeated !== undefined || count !== countMembers(members)) {
		throw duplicateMember(repeated ?? scanMembers(plainBytes, new Set(Object.keys(members))).repeated);
	}
	return { bytes, isAscii: text.isAscii, members, ranges, readExactly: hasLongNumber ? () => parseObject(plain, parseExactly) : undefined };
}

function countMembers(members: JsonObject): number {
	let count = 0;
	for (const _name in members) count++;
	return count;
}

export function isJsonObject(value: unknown): value is JsonObject {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Removes unnecessary escapes from keys. V8 may read an escaped key as another one: as a key with a literal backslash that it met before at
 * this position in any other text (seen in 13.6 and 14.6). A client could hide a second `model` that way. To be deleted when V8 reads such
 * keys correctly.
 */
function withPlainKeys(bytes: Buffer, keys: readonly ByteRange[]): Buffer {
	// Long enough: no key is longer without its unnecessary escapes.
	const plain = Buffer.allocUnsafe(bytes.length);
	let length = 0;
	let retained = 0;
	for (const range of keys) {
		const key = readKey(bytes, range);
		if (key === undefined) continue;
		length += bytes.copy(plain, length, retained, range.start);
		length += plain.write(JSON.stringify(key), length);
		retained = range.end;
	}
	length += bytes.copy(plain, length, retained);
	return plain.subarray(0, length);
}

function parseObject(text: BodyText, parse: (text: string) => unknown): JsonObject {
	let value: unknown;
	try {
		value = text.parse(parse);
	} catch (cause) {
		// V8's message quotes the body; only the position may be disclosed.
		const position = cause instanceof Error ? / at position (\d+)/.exec(cause.message)?.[1] : undefined;
		const where = position === undefined ? '' : ` at character ${position}`;
		throw new Rejection('body_not_json', { message: `The body is not valid JSON${where}: send one JSON object` });
	}
	if (!isJsonObject(value)) throw new Rejection('body_not_json', { message: 'The body is JSON but not an object: send one JSON object' });
	return value;
}

function duplicateMember(name: string | undefined): Rejection {
	const what = name === undefined ? 'a member' : `\`${name}\``;
	return new Rejection('field_invalid', {
		message: `The body has ${what} more than once at its top level: send each member once`,
		...(name !== undefined && { param: name }),
	});
}

/** A body that the gateway wrote. Ranges of its members are located only when it is edited. */
export class WrittenBody implements JsonBody {
	readonly bytes: Buffer;
	readonly isAscii: boolean;
	readonly members: JsonObject;
	readonly #wanted: ReadonlySet<string>;
	#ranges: ReadonlyMap<string, ByteRange> | undefined;

	constructor(members: JsonObject, wanted: ReadonlySet<string>) {
		this.members = members;
		const text = JSON.stringify(members);
		this.bytes = Buffer.from(text);
		this.isAscii = text.length === this.bytes.length;
		this.#wanted = wanted;
	}

	get ranges(): ReadonlyMap<string, ByteRange> {
		this.#ranges ??= scanMembers(this.bytes, this.#wanted).ranges;
		return this.#ranges;
	}
}

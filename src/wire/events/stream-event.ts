import type { Arena } from '../../core/byte-pieces.ts';
import { parseExactly } from '../json/exact-json.ts';
import { isJsonObject, type JsonObject } from '../json/parse-body.ts';

interface Fields {
	readonly name: string;
	readonly data: string | undefined;
	readonly otherLines: readonly string[];
}

/**
 * One server-sent event with the empty line that ends it; it may consist of comments. Each value is parsed once and cached (WHATWG HTML
 * section 9.2.6).
 */
export class StreamEvent {
	#bytes: Buffer | undefined;
	readonly #text: string | undefined;
	#fields: Fields | undefined;
	/** Null if the data is not JSON. */
	#json: unknown;

	private constructor(bytes: Buffer | undefined, text: string | undefined) {
		this.#bytes = bytes;
		this.#text = text;
	}

	static ofBytes(bytes: Buffer): StreamEvent {
		return new StreamEvent(bytes, undefined);
	}

	static ofText(text: string): StreamEvent {
		return new StreamEvent(undefined, text);
	}

	get bytes(): Buffer {
		return (this.#bytes ??= Buffer.from(this.#text ?? ''));
	}

	/** Copies the event into memory of its owner, for use beyond the tick in which it arrived. */
	storeIn(pages: Arena): void {
		if (this.#bytes !== undefined) this.#bytes = pages.keep(this.#bytes);
	}

	/** Empty without an `event` field. */
	get name(): string {
		return this.#read().name;
	}

	/** Joined data lines; undefined if there are none, as in a comment. */
	get data(): string | undefined {
		return this.#read().data;
	}

	/** Lines without data: other fields, comments, and invalid lines. */
	get otherLines(): readonly string[] {
		return this.#read().otherLines;
	}

	/** Returns the data as JSON; undefined if it is not JSON. Integers beyond the precision of a double keep their digits. */
	value(): unknown {
		if (this.#json === undefined) this.#json = readJson(this.data);
		return this.#json ?? undefined;
	}

	/** Returns the data as a JSON object; undefined if it is not one. */
	json(): JsonObject | undefined {
		const value = this.value();
		return isJsonObject(value) ? value : undefined;
	}

	#read(): Fields {
		return (this.#fields ??= readFields(this.#text ?? this.bytes.toString('utf8')));
	}
}

function readJson(data: string | undefined): unknown {
	if (data === undefined) return null;
	try {
		return parseExactly(data);
	} catch {
		return null;
	}
}

const space = 0x20;
const noLines: readonly string[] = [];

function readFields(raw: string): Fields {
	const text = raw.includes('\r') ? raw.replaceAll(/\r\n?/g, '\n') : raw;
	let data: string | undefined;
	let name = '';
	let otherLines: string[] | undefined;
	for (let start = 0; start < text.length; ) {
		let end = text.indexOf('\n', start);
		if (end === -1) end = text.length;
		if (text.startsWith('data:', start)) {
			const from = start + 'data:'.length;
			const value = text.slice(text.charCodeAt(from) === space && from < end ? from + 1 : from, end);
			data = data === undefined ? value : `${data}\n${value}`;
		} else if (end > start) {
			const line = text.slice(start, end);
			if (line.startsWith('event:')) name = line.slice('event:'.length).trim();
			(otherLines ??= []).push(line);
		}
		start = end + 1;
	}
	return { name, data, otherLines: otherLines ?? noLines };
}

/** A comment: keeps an idle stream alive and is ignored by its reader. */
export const heartbeat = Buffer.from(': keepalive\n\n');

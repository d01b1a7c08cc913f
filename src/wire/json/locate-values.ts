import { type ByteRange, endOfString, readKey } from './scan-members.ts';
import type { Edit } from './splice-body.ts';

/** Paths in a body, as a tree. A requested path has `index`, its position in the list of requests. */
interface Wanted {
	index: number | undefined;
	readonly children: Map<string | number, Wanted>;
}

const quote = 0x22;
const openBrace = 0x7b;
const openBracket = 0x5b;
const closeBrace = 0x7d;
const closeBracket = 0x5d;
const comma = 0x2c;

/**
 * Finds the ranges of values in the bytes of valid JSON. Of duplicate members the last one is used, as in `JSON.parse`.
 * @param paths names and indexes from the top; none is a prefix of another.
 * @returns a range for each path; undefined if there is no such value.
 */
export function locateValues(bytes: Buffer, paths: readonly (readonly (string | number)[])[]): readonly (ByteRange | undefined)[] {
	const locator = new Locator(bytes, paths.length);
	locator.read(treeOf(paths));
	return locator.ranges;
}

/** Returns the edits that remove these members and items, commas included. @param paths as for `locateValues`. */
export function cutValues(bytes: Buffer, paths: readonly (readonly (string | number)[])[]): readonly Edit[] {
	const locator = new Locator(bytes, paths.length);
	locator.read(treeOf(paths));
	return locator.cuts;
}

function treeOf(paths: readonly (readonly (string | number)[])[]): Wanted {
	const root: Wanted = { index: undefined, children: new Map() };
	for (const [index, path] of paths.entries()) {
		let node = root;
		for (const step of path) {
			const child = node.children.get(step) ?? { index: undefined, children: new Map() };
			node.children.set(step, child);
			node = child;
		}
		node.index = index;
	}
	return root;
}

/** A member with its name, or an item. */
interface Item extends ByteRange {
	readonly isWanted: boolean;
}

class Locator {
	readonly #bytes: Buffer;
	readonly ranges: (ByteRange | undefined)[];
	readonly cuts: Edit[] = [];
	#at = 0;

	constructor(bytes: Buffer, count: number) {
		this.#bytes = bytes;
		this.ranges = Array.from({ length: count });
	}

	/** Reads one value; JSON that was accepted before is at most 64 levels deep. */
	read(wanted: Wanted | undefined): void {
		const start = this.#skipSpace();
		const first = this.#bytes[start];
		if (first === quote) this.#at = endOfString(this.#bytes, start + 1);
		else if (first === openBrace) this.#readItems(wanted, closeBrace);
		else if (first === openBracket) this.#readItems(wanted, closeBracket);
		else while (this.#at < this.#bytes.length && !isEnd(this.#bytes[this.#at])) this.#at++;
		if (wanted?.index !== undefined) this.ranges[wanted.index] = { start, end: this.#at };
	}

	#readItems(wanted: Wanted | undefined, close: number): void {
		const items: Item[] = [];
		this.#at++;
		for (let index = 0; this.#at < this.#bytes.length; index++) {
			if (this.#bytes[this.#skipSpace()] === close) break;
			const start = this.#at;
			const step = close === closeBrace ? this.#readName() : index;
			const child = wanted?.children.get(step);
			this.read(child);
			if (wanted !== undefined) items.push({ start, end: this.#at, isWanted: child?.index !== undefined });
			if (this.#bytes[this.#skipSpace()] === comma) this.#at++;
		}
		this.#at++;
		this.#cut(items);
	}

	/** Cuts each with the comma after it; those at the end with the comma before them. */
	#cut(items: readonly Item[]): void {
		const lastRetained = items.findLastIndex(({ isWanted }) => !isWanted);
		for (const [index, { start, isWanted }] of items.slice(0, lastRetained + 1).entries()) {
			if (isWanted) this.cuts.push({ start, end: items[index + 1]?.start ?? start, text: '' });
		}
		const tail = items[lastRetained + 1];
		const end = items.at(-1)?.end;
		if (tail !== undefined && end !== undefined) this.cuts.push({ start: items[lastRetained]?.end ?? tail.start, end, text: '' });
	}

	/** Reads the name and the colon after it. */
	#readName(): string {
		const start = this.#at;
		this.#at = endOfString(this.#bytes, start + 1);
		const name = readKey(this.#bytes, { start, end: this.#at }) ?? '';
		this.#skipSpace();
		this.#at++;
		return name;
	}

	#skipSpace(): number {
		while (this.#at < this.#bytes.length && (this.#bytes[this.#at] ?? 0) <= 0x20) this.#at++;
		return this.#at;
	}
}

function isEnd(byte: number | undefined): boolean {
	return byte === comma || byte === closeBrace || byte === closeBracket || byte === undefined || byte <= 0x20;
}

/**
 * A JSON value of a client's request. Readers access bodies through views only and query no more than they need. A large body need not be
 * parsed completely, nor its long strings decoded before they are written.
 */

import { Rejection } from '../../core/rejection.ts';
import { isExactInteger } from '../json/exact-json.ts';
import { isJsonObject, type JsonObject } from '../json/parse-body.ts';

/** Path of a value in the client's request. */
export interface Place {
	/** Path as rejections name it in `param`, such as `messages[2].content`; empty for the body. */
	readonly path: string;
}

export interface JsonView extends Place {
	readonly kind: 'absent' | 'null' | 'boolean' | 'number' | 'string' | 'array' | 'object';
	/** Neither absent nor null. */
	readonly isGiven: boolean;
	/** Returns a view of kind `absent` if there is no such member. */
	member(name: string): JsonView;
	/** True if the member is neither absent nor null. */
	has(name: string): boolean;
	/** Returns a member's string, decoded; undefined for anything else. */
	textOf(name: string): string | undefined;
	/** Returns the names of an object's members, in their order. */
	names(): readonly string[];
	/** Returns the elements of an array; none for anything else. */
	items(): readonly JsonView[];
	/** Returns the first characters of a string; empty for anything else. */
	prefix(length: number): string;
	/** Returns a string, decoded; undefined for anything else. */
	text(): string | undefined;
	/** Returns the whole value, decoded. */
	value(): unknown;
}

/** Creates a view of a parsed body. */
export function viewOf(body: JsonObject): JsonView {
	return new ParsedView(body, undefined, '');
}

class ParsedView implements JsonView {
	readonly #value: unknown;
	readonly #parent: ParsedView | undefined;
	readonly #key: string | number;

	constructor(value: unknown, parent: ParsedView | undefined, key: string | number) {
		this.#value = value;
		this.#parent = parent;
		this.#key = key;
	}

	get path(): string {
		const outer = this.#parent?.path ?? '';
		if (typeof this.#key === 'number') return `${outer}[${this.#key}]`;
		return outer === '' ? this.#key : `${outer}.${this.#key}`;
	}

	get kind(): JsonView['kind'] {
		const value = this.#value;
		if (typeof value === 'string') return 'string';
		if (value === undefined) return 'absent';
		if (value === null) return 'null';
		if (Array.isArray(value)) return 'array';
		if (typeof value === 'object') return isExactInteger(value) ? 'number' : 'object';
		return typeof value === 'number' ? 'number' : 'boolean';
	}

	get isGiven(): boolean {
		return this.#value !== undefined && this.#value !== null;
	}

	member(name: string): JsonView {
		return new ParsedView(isJsonObject(this.#value) ? this.#value[name] : undefined, this, name);
	}

	has(name: string): boolean {
		const value = this.#value;
		return isJsonObject(value) && value[name] !== undefined && value[name] !== null;
	}

	textOf(name: string): string | undefined {
		const value = isJsonObject(this.#value) ? this.#value[name] : undefined;
		return typeof value === 'string' ? value : undefined;
	}

	names(): readonly string[] {
		return isJsonObject(this.#value) ? Object.keys(this.#value) : [];
	}

	items(): readonly JsonView[] {
		return Array.isArray(this.#value) ? this.#value.map((item: unknown, index) => new ParsedView(item, this, index)) : [];
	}

	prefix(length: number): string {
		return typeof this.#value === 'string' ? this.#value.slice(0, length) : '';
	}

	text(): string | undefined {
		return typeof this.#value === 'string' ? this.#value : undefined;
	}

	value(): unknown {
		return this.#value;
	}
}

/** @returns undefined for a value that is not a string, or a string without visible characters. */
export function visibleTextIn(view: JsonView): string | undefined {
	const text = view.text();
	return text === undefined || isBlank(text) ? undefined : text;
}

/** @returns undefined for a value that is not a number, or an integer beyond the precision of a double. */
export function numberIn(view: JsonView): number | undefined {
	const value = view.kind === 'number' ? view.value() : undefined;
	return typeof value === 'number' ? value : undefined;
}

/** @returns undefined for a value that is not an object. */
export function objectIn(view: JsonView): JsonObject | undefined {
	const value = view.kind === 'object' ? view.value() : undefined;
	return isJsonObject(value) ? value : undefined;
}

export function isTrue(view: JsonView): boolean {
	return view.kind === 'boolean' && view.value() === true;
}

/** @throws `Rejection` `field_invalid`. */
export function requireText(view: JsonView): string {
	return view.text() ?? rejectField(view.path, 'must be a string');
}

/** Requires a text in a member, like `requireText`. @throws `Rejection` `field_invalid`. */
export function requireTextOf(view: JsonView, name: string): string {
	return view.textOf(name) ?? requireText(view.member(name));
}

/** @throws `Rejection` `field_invalid`. */
export function requireObject(view: JsonView): JsonView {
	return view.kind === 'object' ? view : rejectField(view.path, 'must be an object');
}

export function isBlank(text: string): boolean {
	return text.trim() === '';
}

/**
 * Rejects a field that has no equivalent, or that the provider would misinterpret.
 * @param rest problem and remedy, appended to the field's name.
 */
export function rejectField(param: string, rest: string): never {
	throw new Rejection('field_invalid', { param, message: `\`${param}\` ${rest}` });
}

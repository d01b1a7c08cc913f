/**
 * The text of a JSON body. Files in base64 make bodies of many megabytes. One text of all bytes, from which the parser then copies the
 * file, would add two copies. Long strings without escapes are therefore decoded in place, and a short mark is parsed instead.
 */
import { Rejection } from '../../core/rejection.ts';
import type { ByteRange } from './scan-members.ts';

export interface BodyText {
	readonly isAscii: boolean;
	/** @throws the errors of `parse`, with positions in the whole text. */
	parse(parse: (text: string) => unknown): unknown;
}

// `ignoreBOM` keeps a byte order mark in the text instead of dropping it; a body with one was rejected before.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Marks begin with the first of these characters that does not occur in the rest of the body, in any spelling. */
const firstMark = 0xe000;
const lastMark = 0xe00f;

/** Characters that JSON forbids within a string. */
const control = /[^ -\uffff]/;

/**
 * @param longStrings ranges of values without their quotes, in order and without overlap; they contain no backslash
 * @throws `Rejection` `body_not_utf8`
 */
export function readBodyText(bytes: Buffer, longStrings: readonly ByteRange[]): BodyText {
	return (longStrings.length === 0 ? undefined : cutText(bytes, longStrings)) ?? fullText(bytes);
}

function fullText(bytes: Buffer): BodyText {
	const text = decode(bytes);
	// Every character beyond ASCII has more bytes than UTF-16 code units.
	return { isAscii: text.length === bytes.length, parse: (parse) => parse(text) };
}

/** @returns undefined if the body could be mistaken for one with marks, or contains forbidden characters. */
function cutText(bytes: Buffer, longStrings: readonly ByteRange[]): BodyText | undefined {
	const between: string[] = [];
	const strings: string[] = [];
	let end = 0;
	let isAllAscii = true;
	for (const range of longStrings) {
		between.push(decode(bytes.subarray(end, range.start)));
		const text = decode(bytes.subarray(range.start, range.end));
		if (control.test(text)) return undefined;
		strings.push(text);
		isAllAscii &&= text.length === range.end - range.start;
		end = range.end;
	}
	between.push(decode(bytes.subarray(end)));
	const mark = freeMark(between);
	if (mark === undefined) return undefined;
	const betweenLength = between.reduce((sum, text) => sum + text.length, 0);
	const betweenBytes = bytes.length - longStrings.reduce((sum, range) => sum + range.end - range.start, 0);
	const marked = between.map((text, index) => (index === 0 ? text : `${mark}${index - 1}${text}`)).join('');
	const textOf = (value: string): string => (value.startsWith(mark) ? (strings[Number(value.slice(1))] ?? value) : value);
	return {
		isAscii: isAllAscii && betweenLength === betweenBytes,
		parse(parse) {
			let value: unknown;
			try {
				value = parse(marked);
			} catch {
				return fullText(bytes).parse(parse);
			}
			return typeof value === 'string' ? textOf(value) : fill(value, textOf);
		},
	};
}

function freeMark(texts: readonly string[]): string | undefined {
	for (let code = firstMark; code <= lastMark; code++) {
		const mark = String.fromCharCode(code);
		const escaped = new RegExp(`\\\\u${code.toString(16)}`, 'i');
		if (!texts.some((text) => text.includes(mark) || escaped.test(text))) return mark;
	}
	return undefined;
}

/** Replaces strings in place. The nesting depth of bodies is limited (`maxDepth`). */
function fill(value: unknown, textOf: (value: string) => string): unknown {
	if (typeof value !== 'object' || value === null) return value;
	const members = value as Record<string, unknown>;
	for (const name in members) {
		const member = members[name];
		if (typeof member === 'object') fill(member, textOf);
		else if (typeof member === 'string') {
			const text = textOf(member);
			if (text !== member) members[name] = text;
		}
	}
	return value;
}

function decode(bytes: Buffer): string {
	try {
		return decoder.decode(bytes);
	} catch (cause) {
		throw new Rejection('body_not_utf8', { message: 'The body is not valid UTF-8: encode it as UTF-8', cause });
	}
}

import { type CooperativeTask, runSynchronously } from '../../core/cooperative-task.ts';
import type { JsonObject } from './parse-body.ts';
import { endOfString, readKey } from './scan-members.ts';

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;

/** Maximum number of names, and of bytes, per step: some milliseconds of work. */
const namesAtOnce = 10_000;
const bytesAtOnce = 1024 * 1024;

/** An open object or list. */
interface Level {
	readonly names: Set<string> | undefined;
	name: string;
	index: number;
}

/**
 * Finds a duplicate member. Parsers differ in which of two members with one name they use, so JSON with duplicates must not be judged by
 * one parser.
 * @param bytes valid JSON.
 * @returns the path of a member that occurs more than once in its object; undefined if there is none.
 */
export function* repeatedMemberSteps(bytes: Buffer): CooperativeTask<string | undefined> {
	const levels: Level[] = [];
	let seen = 0;
	let pauseAt = bytesAtOnce;
	for (let at = 0; at < bytes.length; at++) {
		if (at >= pauseAt || seen >= namesAtOnce) {
			yield;
			pauseAt = at + bytesAtOnce;
			seen = 0;
		}
		const byte = bytes[at];
		if (byte === quote) {
			const end = endOfString(bytes, at + 1);
			const level = levels.at(-1);
			if (level?.names !== undefined && isName(bytes, end)) {
				level.name = nameIn(bytes, at, end);
				if (level.names.has(level.name)) return pathOf(levels);
				level.names.add(level.name);
				seen++;
			}
			at = end - 1;
		} else if (byte === openBrace) levels.push({ names: new Set(), name: '', index: 0 });
		else if (byte === openBracket) levels.push({ names: undefined, name: '', index: 0 });
		else if (byte === closeBrace || byte === closeBracket) levels.pop();
		else if (byte === comma) {
			const level = levels.at(-1);
			if (level !== undefined) level.index++;
		}
	}
	return undefined;
}

/** Checks a JSON text, given its parsed object, for duplicate members. */
export function repeatsMember(json: string, reported: JsonObject): boolean {
	// Most texts equal the output of `JSON.stringify`, which contains no duplicates.
	return JSON.stringify(reported) !== json && runSynchronously(repeatedMemberSteps(Buffer.from(json))) !== undefined;
}

/** True for a string before a colon in an object. */
function isName(bytes: Buffer, end: number): boolean {
	let at = end;
	while ((bytes[at] ?? colon) <= 0x20) at++;
	return bytes[at] === colon;
}

function nameIn(bytes: Buffer, start: number, end: number): string {
	const isEscaped = bytes.subarray(start, end).includes(backslash);
	return isEscaped ? (readKey(bytes, { start, end }) ?? '') : bytes.toString('utf8', start + 1, end - 1);
}

function pathOf(levels: readonly Level[]): string {
	return levels.map(({ names, name, index }, depth) => (names === undefined ? `[${index}]` : `${depth === 0 ? '' : '.'}${name}`)).join('');
}

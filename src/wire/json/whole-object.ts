import { endOfString, isWhitespace } from './scan-members.ts';

const quote = 0x22;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;

/**
 * Whether these bytes are one JSON object from its first brace to its last, judged by brackets and strings alone: pages,
 * lists and bodies that were cut are found out at a small part of what parsing a large answer costs.
 */
export function isWholeObject(bytes: Buffer): boolean {
	let start = 0;
	while (isWhitespace(bytes[start])) start++;
	if (bytes[start] !== openBrace) return false;
	let depth = 0;
	for (let at = start; at < bytes.length; at++) {
		switch (bytes[at]) {
			case quote:
				at = endOfString(bytes, at + 1) - 1;
				break;
			case openBrace:
			case openBracket:
				depth++;
				break;
			case closeBrace:
			case closeBracket:
				depth--;
				if (depth === 0) return bytes[at] === closeBrace && isBlank(bytes, at + 1);
				break;
			default:
		}
	}
	return false;
}

function isBlank(bytes: Buffer, from: number): boolean {
	for (let at = from; at < bytes.length; at++) if (!isWhitespace(bytes[at])) return false;
	return true;
}

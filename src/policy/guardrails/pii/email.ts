/** E-mail addresses as people write them: no quoted local parts, no comments. */
import { isAlphanumeric } from './iban.ts';

/** RFC 5321 section 4.5.3.1. */
const longestLocal = 64;
export const longestEmail = 254;
const localSigns = new Set(Array.from(".!#$%&'*+-/=?^_`{|}~", (sign) => sign.charCodeAt(0)));
const dot = 0x2e;
const hyphen = 0x2d;

export interface Span {
	readonly start: number;
	readonly end: number;
}

/** @param at where the `@` stands. */
export function emailAround(text: string, at: number): Span | undefined {
	let start = at;
	const least = Math.max(0, at - longestLocal);
	while (start > least && isLocal(text.charCodeAt(start - 1))) start--;
	while (start < at && !isWordCode(text.charCodeAt(start))) start++;
	if (start === at || text.charCodeAt(at - 1) === dot) return undefined;
	let end = at + 1;
	const most = Math.min(text.length, start + longestEmail);
	let labelStart = end;
	let lastDot = -1;
	for (; end < most; end++) {
		const code = text.charCodeAt(end);
		if (isWordCode(code) || (code === hyphen && end > labelStart)) continue;
		if (code !== dot || end === labelStart || !isWordCode(text.charCodeAt(end + 1))) break;
		lastDot = end;
		labelStart = end + 1;
	}
	while (end > at && text.charCodeAt(end - 1) === hyphen) end--;
	const isDomain = lastDot !== -1 && end - lastDot > 2 && /^[a-z\u0080-\uffff][a-z0-9\u0080-\uffff-]+$/i.test(text.slice(lastDot + 1, end));
	return isDomain ? { start, end } : undefined;
}

function isLocal(code: number): boolean {
	return isWordCode(code) || localSigns.has(code);
}

/** Letters beyond ASCII may stand on either side (RFC 6531). */
function isWordCode(code: number): boolean {
	return isAlphanumeric(code) || (code >= 0xa1 && code !== 0x2019 && (code < 0x2000 || code > 0x206f) && (code < 0x3000 || code > 0x303f));
}

import type { ByteRange } from './scan-members.ts';
import type { Edit } from './splice-body.ts';

/** A string, a number or a word such as `true`, or one sign. */
const token = /"(?:[^"\\]|\\.)*"|[^\s"{}[\],:]+|[{}[\],:]/g;

/**
 * What to change in the bytes of a JSON value so that it says what `changed` says in place of `written`: single strings and numbers,
 * so that white space and the digits of others stay as they are.
 * @param written the value as `JSON.stringify` writes it.
 * @returns undefined where the three do not go side by side, as with members that occur twice.
 */
export function replacedTokens(bytes: Buffer, { start, end }: ByteRange, written: string, changed: string): readonly Edit[] | undefined {
	// One character a byte, so that offsets are those of the bytes.
	const raw = [...bytes.toString('latin1', start, end).matchAll(token)];
	const before = written.match(token) ?? [];
	const after = changed.match(token) ?? [];
	if (raw.length !== before.length || raw.length !== after.length) return undefined;
	const edits: Edit[] = [];
	for (const [index, found] of raw.entries()) {
		const from = start + found.index;
		const to = from + found[0].length;
		const old = before[index] ?? '';
		const text = after[index] ?? '';
		if (!isSame(bytes.toString('utf8', from, to), old)) return undefined;
		if (text !== old) edits.push({ start: from, end: to, text });
	}
	return edits;
}

function isSame(one: string, other: string): boolean {
	if (one === other) return true;
	try {
		return JSON.stringify(JSON.parse(one)) === other;
	} catch {
		return false;
	}
}

/** Edits of single texts in a body that keep every other byte. */
import { locateValues } from './json/locate-values.ts';
import type { ByteRange } from './json/scan-members.ts';
import type { Edit } from './json/splice-body.ts';
import type { ViewedText } from './text-view.ts';

/** @param changes new value of each text; JSON for a text that is a JSON value. */
export function textEdits(bytes: Buffer, changes: readonly (readonly [ViewedText, string])[]): readonly Edit[] {
	const ranges = locateValues(
		bytes,
		changes.map(([{ path }]) => path),
	);
	return changes.flatMap(([{ isValue, text: before, dataUrlHead }, text], index) => {
		const range = ranges[index];
		if (range === undefined) return [];
		if (dataUrlHead !== undefined) {
			return [{ ...range, text: JSON.stringify(dataUrlHead + Buffer.from(text).toString('base64')) }];
		}
		if (!isValue) return [{ ...range, text: JSON.stringify(text) }];
		return replacedTokens(bytes, range, before, text) ?? [{ ...range, text }];
	});
}

/** A string, a number, a word such as `true`, or a single sign. */
const token = /"(?:[^"\\]|\\.)*"|[^\s"{}[\],:]+|[{}[\],:]/g;

/**
 * Returns the edits that turn a JSON value from `written` into `changed`. Only single strings and numbers are replaced, so that whitespace
 * and the digits of other numbers stay.
 * @param written the value as `JSON.stringify` writes it.
 * @returns undefined if the three cannot be aligned, as with duplicate members.
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

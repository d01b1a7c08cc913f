/** Digits of one group of a number, which people separate in various ways. */

export interface DigitGroup {
	readonly start: number;
	readonly end: number;
	/** Text between the previous group and this one; empty for the first. */
	readonly separator: string;
}

export interface NumberRun {
	readonly groups: readonly DigitGroup[];
	readonly end: number;
}

const maxSeparatorLength = 3;
const separators = new Uint8Array(256);
for (const sign of ' -.()/\u00a0') separators[sign.charCodeAt(0)] = 1;

export function isDigitCode(code: number): boolean {
	return code >= 0x30 && code <= 0x39;
}

export function isSeparatorCode(code: number): boolean {
	return separators[code] === 1;
}

/** @param start of its first digit. */
export function readNumberRun(text: string, start: number): NumberRun {
	const groups: DigitGroup[] = [];
	let separator = '';
	let at = start;
	for (;;) {
		const groupStart = at;
		while (isDigitCode(text.charCodeAt(at))) at++;
		groups.push({ start: groupStart, end: at, separator });
		let next = at;
		while (next - at < maxSeparatorLength && isSeparatorCode(text.charCodeAt(next))) next++;
		if (next === at || !isDigitCode(text.charCodeAt(next))) return { groups, end: at };
		separator = text.slice(at, next);
		at = next;
	}
}

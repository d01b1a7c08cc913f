const space = 0x20;

/**
 * @returns the offset of the value in the line `name: value`, after the one space that may follow the colon;
 * -1 when the line is of another field.
 */
export function valueOffset(bytes: Buffer, start: number, end: number, nameWithColon: string): number {
	if (!startsWith(bytes, start, end, nameWithColon)) return -1;
	const offset = start + nameWithColon.length;
	return bytes[offset] === space && offset < end ? offset + 1 : offset;
}

/** `text` is ASCII. */
export function startsWith(bytes: Buffer, start: number, end: number, text: string): boolean {
	if (end - start < text.length) return false;
	for (let at = 0; at < text.length; at++) if (bytes[start + at] !== text.charCodeAt(at)) return false;
	return true;
}

/** Equal but for spaces at the line's end, with which some providers pad. */
export function equals(bytes: Buffer, start: number, end: number, text: string): boolean {
	let trimmedEnd = end;
	while (trimmedEnd > start && bytes[trimmedEnd - 1] === space) trimmedEnd--;
	return trimmedEnd - start === text.length && startsWith(bytes, start, end, text);
}

/** Maximum number of code units in one copy. */
export const maxUnits = 1024;
/** Maximum length to copy in a loop, because one invocation of `write` costs as much as this many characters. */
const shortText = 16;
const bytes = Buffer.alloc(2 * maxUnits);
const units = new Uint16Array(bytes.buffer, bytes.byteOffset, maxUnits);

/**
 * Copies the code units of a text from `start` up to `end`, at most `maxUnits`. Copying and reading the copy takes half the time of
 * reading each from the text, above all for a substring.
 * @returns a shared array, valid until the next invocation.
 */
export function unitsOf(text: string, start = 0, end = text.length): Uint16Array {
	if (end - start > shortText) bytes.write(end - start === text.length ? text : text.slice(start, end), 'utf16le');
	else for (let at = start; at < end; at++) units[at - start] = text.charCodeAt(at);
	return units;
}

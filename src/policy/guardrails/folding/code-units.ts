/** So much of a text is copied at once. */
export const mostUnits = 1024;
/** Shorter ones are copied by hand: a call of `write` costs as much as this many characters. */
const shortText = 16;
const bytes = Buffer.alloc(2 * mostUnits);
const units = new Uint16Array(bytes.buffer, bytes.byteOffset, mostUnits);

/**
 * The code units of a text from `start` up to `end`, at most `mostUnits`. To copy them and read the copy takes half the time of asking
 * the text for each, above all where it is a part of another text.
 * @returns an array that all share: it holds until the next call.
 */
export function unitsOf(text: string, start = 0, end = text.length): Uint16Array {
	if (end - start > shortText) bytes.write(end - start === text.length ? text : text.slice(start, end), 'utf16le');
	else for (let at = start; at < end; at++) units[at - start] = text.charCodeAt(at);
	return units;
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;

/**
 * Cuts bytes into events, each with the empty line that ends it (LF or CRLF, as every server of this kind writes them).
 * @returns the rest, which is the beginning of an event.
 */
export function splitEvents(bytes: Buffer, take: (event: Buffer) => void): Buffer {
	let start = 0;
	let lineStart = 0;
	for (let end = bytes.indexOf(lineFeed); end !== -1; end = bytes.indexOf(lineFeed, end + 1)) {
		const isEmpty = end === lineStart || (end === lineStart + 1 && bytes[lineStart] === carriageReturn);
		lineStart = end + 1;
		if (!isEmpty) continue;
		take(bytes.subarray(start, lineStart));
		start = lineStart;
	}
	return bytes.subarray(start);
}

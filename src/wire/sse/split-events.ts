const lineFeed = 0x0a;
const carriageReturn = 0x0d;

/**
 * Cuts bytes into events, each with the empty line that ends it. A line ends with LF, CR or CRLF (WHATWG HTML section 9.2.5);
 * the LF of a CRLF that came later than its CR is an event of its own, which means nothing.
 * @returns the rest, which is the beginning of an event.
 */
export function splitEvents(bytes: Buffer, take: (event: Buffer) => void): Buffer {
	let start = 0;
	let lineStart = 0;
	let lf = bytes.indexOf(lineFeed);
	let cr = bytes.indexOf(carriageReturn);
	while (lf !== -1 || cr !== -1) {
		const end = lf === -1 || (cr !== -1 && cr < lf) ? cr : lf;
		const next = end === cr && lf === cr + 1 ? end + 2 : end + 1;
		if (end === lineStart) {
			take(bytes.subarray(start, next));
			start = next;
		}
		lineStart = next;
		if (lf !== -1 && lf < next) lf = bytes.indexOf(lineFeed, next);
		if (cr !== -1 && cr < next) cr = bytes.indexOf(carriageReturn, next);
	}
	return bytes.subarray(start);
}

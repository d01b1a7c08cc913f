/**
 * Parses simple heads, which nearly every request has: those with only one possible reading. Anything unusual, incomplete or invalid is
 * left to `node:http`, so that only one parser judges it.
 */
export interface SimpleRequestHead {
	readonly method: 'GET' | 'POST';
	/** Request target as received. */
	readonly url: string;
	/** Alternating names and values, as received. */
	readonly rawHeaders: readonly string[];
	/** Fields by lower-case name, each sent once, without the length, which differs between otherwise equal heads. */
	readonly headers: Readonly<Record<string, string>>;
	readonly contentLength: number;
	/** Length of the head in bytes, with the empty line. */
	readonly bytes: number;
}

/** Printable ASCII in lines that end with CRLF: no tab, no folded line, no lone CR or LF, no name that a server could read as another. */
const common = /^(?:GET|POST) \/[!-~]* HTTP\/1\.1\r\n(?:[A-Za-z0-9-]+:[ -~]*\r\n)+\r\n$/;

const length = /^(?:0|[1-9]\d{0,14})$/;

const defaultConnections: ReadonlySet<string | undefined> = new Set([undefined, 'keep-alive', 'close']);

/** `node:http` interprets these fields itself; most of them control how the rest of the connection is read. */
const unusualNames: ReadonlySet<string> = new Set([
	'expect',
	'http2-settings',
	'proxy-connection',
	'set-cookie',
	'te',
	'trailer',
	'transfer-encoding',
	'upgrade',
]);

/** @returns undefined if `node:http` must read it. */
export function readSimpleRequestHead(bytes: Buffer, maxBytes: number): SimpleRequestHead | undefined {
	const end = bytes.indexOf('\r\n\r\n');
	if (end === -1 || end + 4 > maxBytes) return undefined;
	const text = bytes.toString('latin1', 0, end + 4);
	if (!common.test(text)) return undefined;
	const lineEnd = text.indexOf('\r\n');
	const method = text.startsWith('P') ? 'POST' : 'GET';
	const url = text.slice(method.length + 1, lineEnd - ' HTTP/1.1'.length);
	const fields = readFields(text, lineEnd + 2);
	if (fields === undefined) return undefined;
	const { rawHeaders, headers, contentLength = '0' } = fields;
	if (!length.test(contentLength) || !defaultConnections.has(headers['connection']?.toLowerCase())) return undefined;
	return { method, url, rawHeaders, headers, contentLength: Number(contentLength), bytes: end + 4 };
}

interface CommonFields extends Pick<SimpleRequestHead, 'headers' | 'rawHeaders'> {
	readonly contentLength: string | undefined;
}

/** @param text ends with an empty line. */
function readFields(text: string, from: number): CommonFields | undefined {
	const rawHeaders: string[] = [];
	let contentLength: string | undefined;
	// An object without a prototype is a dictionary. Otherwise each order of names would create a new object shape, and V8 would recompile
	// all code that reads them.
	const headers = Object.create(null) as Record<string, string>;
	for (let start = from; ; ) {
		const end = text.indexOf('\r\n', start);
		if (end === start) return { rawHeaders, headers, contentLength };
		const colon = text.indexOf(':', start);
		const rawName = text.slice(start, colon);
		const name = rawName.toLowerCase();
		if (unusualNames.has(name) || headers[name] !== undefined) return undefined;
		const value = text.slice(colon + 1, end).trim();
		rawHeaders.push(rawName, value);
		if (name !== 'content-length') headers[name] = value;
		else if (contentLength === undefined) contentLength = value;
		else return undefined;
		start = end + 2;
	}
}

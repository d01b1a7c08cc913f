export interface DataUrl {
	/** In lower case, without parameters. */
	readonly mediaType: string;
	readonly base64: string;
}

/** The part before the data is short; what is longer is none. */
const longestHead = 256;

/** @returns undefined for what is no data URL in base64. RFC 2397. */
export function parseDataUrl(url: string): DataUrl | undefined {
	const comma = url.slice(0, longestHead).indexOf(',');
	if (comma === -1) return undefined;
	const head = /^data:([^;]*)(?:;.*)?;base64$/i.exec(url.slice(0, comma));
	return head === null ? undefined : { mediaType: (head[1] ?? '').trim().toLowerCase(), base64: url.slice(comma + 1) };
}

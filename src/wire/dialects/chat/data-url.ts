import { percentDecoded } from '../../../core/percent-decoding.ts';

export interface DataUrl {
	/** Media type in lower case, without parameters. */
	readonly mediaType: string;
	readonly base64: string;
}

/** Maximum length of the part before the data. */
export const maxHeadLength = 256;

/** @param url its beginning. @returns undefined for anything but a base64 data URL (RFC 2397). */
export function parseDataUrlHead(url: string): { readonly mediaType: string; readonly dataStart: number } | undefined {
	const comma = url.slice(0, maxHeadLength).indexOf(',');
	if (comma === -1) return undefined;
	const head = /^data:([^;]*)(?:;.*)?;base64$/i.exec(url.slice(0, comma));
	return head === null ? undefined : { mediaType: (head[1] ?? '').trim().toLowerCase(), dataStart: comma + 1 };
}

export function parseDataUrl(url: string): DataUrl | undefined {
	const head = parseDataUrlHead(url);
	return head === undefined ? undefined : { mediaType: head.mediaType, base64: url.slice(head.dataStart) };
}

/** An SVG image as text. */
export interface SvgUrl {
	/** Prefix of a data URL for the text in base64, comma included. */
	readonly head: string;
	readonly text: string;
}

const svgType = 'image/svg+xml';

/** @returns undefined for anything but an SVG in a data URL, in base64 or percent-encoded. */
export function parseSvgUrl(url: unknown): SvgUrl | undefined {
	if (typeof url !== 'string') return undefined;
	const comma = url.slice(0, maxHeadLength).indexOf(',');
	const head = comma === -1 ? null : /^\s*data:\s*([^;]*)(;.*)?$/is.exec(url.slice(0, comma));
	if (head === null || (head[1] ?? '').trim().toLowerCase() !== svgType) return undefined;
	const data = percentDecoded(url.slice(comma + 1));
	return {
		head: `data:${svgType};base64,`,
		text: /;\s*base64\s*$/i.test(head[2] ?? '') ? Buffer.from(data, 'base64').toString() : data,
	};
}

/** True if data of this media type is text that models may read. */
export function isTextType(mediaType: unknown): boolean {
	return typeof mediaType === 'string' && /^\s*(?:text\/|image\/svg\+xml|application\/(?:.+\+)?(?:json|xml|yaml)\b)/i.test(mediaType);
}

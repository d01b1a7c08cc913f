import { percentDecoded } from '../../../core/percent-decoding.ts';

/** Maximum length of the part before the data. */
export const maxHeadLength = 256;

/** @param url its beginning. @returns undefined for anything but a base64 data URL (RFC 2397). */
export function parseDataUrlHead(url: string): { readonly mediaType: string; readonly dataStart: number } | undefined {
	const comma = url.slice(0, maxHeadLength).indexOf(',');
	if (comma === -1) return undefined;
	const head = /^data:([^;]*)(?:;.*)?;base64$/i.exec(url.slice(0, comma));
	return head === null ? undefined : { mediaType: (head[1] ?? '').trim().toLowerCase(), dataStart: comma + 1 };
}

/** A text in a data URL. */
export interface TextUrl {
	/** Prefix of a data URL for the text in base64, comma included. */
	readonly head: string;
	readonly text: string;
	/** True if some bytes are no UTF-8: readers may decode them in another way. */
	readonly isUnclear: boolean;
}

export function isSvgType(mediaType: string): boolean {
	return mediaType === 'image/svg+xml';
}

/**
 * Reads a text in base64 or percent-encoded.
 * @returns undefined for anything but a data URL of a type that `isWanted` accepts.
 */
export function parseTextUrl(url: unknown, isWanted: (mediaType: string) => boolean): TextUrl | undefined {
	if (typeof url !== 'string') return undefined;
	const comma = url.slice(0, maxHeadLength).indexOf(',');
	const head = comma === -1 ? null : /^\s*data:\s*([^;]*)(;.*)?$/is.exec(url.slice(0, comma));
	const mediaType = (head?.[1] ?? '').trim().toLowerCase();
	if (head === null || !isWanted(mediaType)) return undefined;
	const data = percentDecoded(url.slice(comma + 1));
	const isBase64 = /;\s*base64\s*$/i.test(head[2] ?? '');
	const text = isBase64 ? Buffer.from(data, 'base64').toString() : data;
	return { head: isBase64 ? url.slice(0, comma + 1) : `data:${mediaType};base64,`, text, isUnclear: /[\0\ufffd]/.test(text) };
}

/** True if data of this media type is text that models may read. */
export function isTextType(mediaType: unknown): boolean {
	return typeof mediaType === 'string' && /^\s*(?:text\/|image\/svg\+xml|application\/(?:.+\+)?(?:json|xml|yaml)\b)/i.test(mediaType);
}

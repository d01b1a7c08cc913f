import type { JsonObject } from '../../json/parse-body.ts';

/** Types that the provider names in its documents; it says itself what a model cannot read. */
const mediaTypes = /^(?:image\/(?:png|jpeg|webp|gif|heic|heif)|audio\/(?:wav|mp3|mpeg|aiff|aac|ogg|flac)|application\/pdf|text\/[\w.+-]+)$/;

/** @returns undefined for a type that the provider does not take. */
export function mediaPart(mediaType: string, data: string): JsonObject | undefined {
	const type = mediaType === 'image/jpg' ? 'image/jpeg' : mediaType;
	return mediaTypes.test(type) ? { inlineData: { mimeType: type, data } } : undefined;
}

const byEnding: Readonly<Record<string, string>> = {
	png: 'image/png',
	jpg: 'image/jpeg',
	jpeg: 'image/jpeg',
	webp: 'image/webp',
	gif: 'image/gif',
	heic: 'image/heic',
	heif: 'image/heif',
	pdf: 'application/pdf',
};

/** An address is passed on for the provider to fetch; the gateway fetches nothing for a caller. */
export function linkedPart(url: string): JsonObject {
	const ending = /\.([a-z]{3,4})(?:[?#]|$)/i.exec(url)?.[1]?.toLowerCase() ?? '';
	const mimeType = byEnding[ending];
	return { fileData: { fileUri: url, ...(mimeType !== undefined && { mimeType }) } };
}

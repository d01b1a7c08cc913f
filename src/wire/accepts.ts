import type { HeaderFields } from '../core/handler.ts';

const rejected = /;\s*q=0(?:\.0{0,3})?\s*(?:;|$)/;

/**
 * True if `accept` names the media type with a weight above zero (RFC 9110 section 12.5.1). Both vendors' SDKs name `application/json`,
 * browsers `text/html`, `curl` by itself neither.
 */
export function accepts(mediaType: 'application/json' | 'text/html', { accept }: HeaderFields): boolean {
	return String(accept ?? '')
		.toLowerCase()
		.split(',')
		.some((range) => range.split(';', 1)[0]?.trim() === mediaType && !rejected.test(range));
}

import type { HeaderFields } from '../core/handler.ts';

/** Whether `accept` names the media type. Both vendors' SDKs name `application/json`, browsers `text/html`, `curl` by itself neither. */
export function accepts(mediaType: 'application/json' | 'text/html', { accept }: HeaderFields): boolean {
	return String(accept ?? '')
		.toLowerCase()
		.includes(mediaType);
}

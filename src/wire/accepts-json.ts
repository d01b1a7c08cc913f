import type { HeaderFields } from '../core/handler.ts';

/** Both vendors' SDKs name it; a browser, or `curl` by itself, does not. */
export function acceptsJson({ accept }: HeaderFields): boolean {
	return String(accept ?? '')
		.toLowerCase()
		.includes('application/json');
}

/** Prefixes of paths that clients build from a base URL with or without a trailing slash and `/v1`. */

const versions = /^(?:\/v1)+(?=\/)/;

/** Returns the canonical path: single slashes, none at the end, and one `/v1`. `/` stays. */
export function canonicalPath(path: string): string {
	if (!path.endsWith('/') && !path.includes('//') && !path.startsWith('/v1/v1/')) return path;
	const plain = path.replace(/\/{2,}/g, '/').replace(versions, '/v1');
	return plain.length > 1 && plain.endsWith('/') ? plain.slice(0, -1) : plain;
}

/** Paths that clients put together from a base URL with or without a last slash and `/v1`. */

const versions = /^(?:\/v1)+(?=\/)/;

/** The path that is meant: each slash once, none at the end, and `/v1` once. `/` stays. */
export function canonicalPath(path: string): string {
	if (!path.endsWith('/') && !path.includes('//') && !path.startsWith('/v1/v1/')) return path;
	const plain = path.replace(/\/{2,}/g, '/').replace(versions, '/v1');
	return plain.length > 1 && plain.endsWith('/') ? plain.slice(0, -1) : plain;
}

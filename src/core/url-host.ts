/** Returns an IPv6 address of a URL without brackets; any other host unchanged. */
export function withoutBrackets(host: string): string {
	return host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host;
}

/** Formats an address for URLs and the field `host`: IPv6 in brackets. */
export function withBrackets(host: string): string {
	return host.includes(':') ? `[${host}]` : host;
}

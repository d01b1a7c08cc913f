/** Of an IPv6 address in a URL, the address; any other host as it is. */
export function withoutBrackets(host: string): string {
	return host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host;
}

/** An address as a URL and the field `host` have it: IPv6 in brackets. */
export function withBrackets(host: string): string {
	return host.includes(':') ? `[${host}]` : host;
}

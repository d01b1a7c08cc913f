import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import { withoutBrackets } from '../../core/url-host.ts';

/** Returns true for a name or an address that only this machine can reach. */
export function isLoopbackHost(host: string): boolean {
	return /^(?:localhost|.+\.localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)$/i.test(host);
}

export interface TrustedHosts {
	/** True if the proxy listens on loopback only: `Host` must then be loopback too. */
	readonly isLoopbackOnly: boolean;
	/** Further host names, in lower case. */
	readonly names: readonly string[];
}

/**
 * Returns the reason to reject a request that a web page may have sent, or undefined. With DNS rebinding, a page reaches the proxy under the
 * page's own host name. An IP address cannot be rebound.
 */
export function foreignRequestProblem(headers: IncomingHttpHeaders, trusted: TrustedHosts): string | undefined {
	const host = (headers.host ?? '').replace(/:\d*$/, '').toLowerCase();
	const isTrusted = isLoopbackHost(host) || trusted.names.includes(host) || (!trusted.isLoopbackOnly && isIP(withoutBrackets(host)) !== 0);
	if (!isTrusted) return 'the Host header is not a name of this proxy; --allow-host allows further names';
	if (headers.origin !== undefined) return 'the request has an Origin header, so a web page sent it';
	const site = headers['sec-fetch-site'];
	if (site !== undefined && site !== 'none') return 'the request has the header Sec-Fetch-Site, so a web page sent it';
	return undefined;
}

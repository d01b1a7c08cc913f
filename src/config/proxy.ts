/** Proxies between the gateway and providers: the setting `proxy`, and the environment variables that replace it. */

import type { UpstreamProxy } from '../core/upstream.ts';
import { withoutBrackets } from '../core/url-host.ts';
import { parseIpAddress, parseIpRange } from '../policy/firewall/ip-address.ts';
import { isThisMachine } from './base-url.ts';
import { nonEmpty, secret } from './values.ts';

/** Value of `proxy` that disables proxies, whatever the environment says. */
export const noProxy = 'direct';

const proxyProblem = 'must be `direct` or the URL of an HTTP proxy, such as http://USER:PASSWORD@proxy.example.com:3128';

/** Returns the setting and its file. @param to destination, for the description. */
export function proxySettings(to: string) {
	const description = `HTTP proxy to the ${to}, as a URL with or without credentials, or \`direct\` for none; null uses \`HTTPS_PROXY\`, \`HTTP_PROXY\` and \`NO_PROXY\`.`;
	return {
		proxy: nonEmpty.refine(isProxySetting, proxyProblem).nullable().default(null).meta(secret(description)),
		proxy_file: nonEmpty.optional().describe('File with the proxy URL.'),
	};
}

export function isProxySetting(text: string): boolean {
	return text === noProxy || (/^https?:\/\/[^\s/?#\\]+\/?$/i.test(text) && URL.canParse(text) && hasReadableCredentials(new URL(text)));
}

function hasReadableCredentials({ username, password }: URL): boolean {
	try {
		// Header fields cannot contain control characters, nor a user name a colon (RFC 7617 section 2).
		return !decodeURIComponent(username).includes(':') && !/\p{Cc}/u.test(decodeURIComponent(username + password));
	} catch {
		return false;
	}
}

/** @returns undefined if connections to the origin are direct. */
export function proxyOf(setting: string | null): UpstreamProxy | undefined {
	if (setting === null || setting === noProxy) return undefined;
	const { origin, username, password } = new URL(setting);
	if (username === '' && password === '') return { origin };
	const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
	return { origin, authorization: `Basic ${Buffer.from(credentials).toString('base64')}` };
}

/**
 * Returns the proxy that `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` name for an address. A lower-case name takes precedence, as with curl.
 * This machine is never reached through a proxy.
 */
export function proxyFromEnvironment(address: string, env: Readonly<Record<string, string | undefined>>): string | undefined {
	if (!URL.canParse(address)) return undefined;
	const url = new URL(address);
	const name = url.protocol === 'https:' ? 'https_proxy' : 'http_proxy';
	const proxy = valueOf(name, env);
	if (proxy === undefined || isThisMachine(url.hostname) || isExempt(url, valueOf('no_proxy', env) ?? '')) return undefined;
	return proxy.includes('://') ? proxy : `http://${proxy}`;
}

function valueOf(name: string, env: Readonly<Record<string, string | undefined>>): string | undefined {
	return [env[name], env[name.toUpperCase()]].map((value) => value?.trim()).find((value) => value !== undefined && value !== '');
}

/** Matches host names and their subdomains, addresses and ranges, each with or without a port; `*` matches everything. */
function isExempt(url: URL, list: string): boolean {
	const host = withoutBrackets(url.hostname).replace(/\.$/, '');
	const port = url.port || (url.protocol === 'https:' ? '443' : '80');
	return list
		.split(/[\s,]+/)
		.filter((entry) => entry !== '')
		.some((entry) => {
			if (entry === '*') return true;
			const [, named = entry, namedPort] = /^(\[[^\]]+\]|[^:]+):(\d+)$/.exec(entry) ?? [];
			if (namedPort !== undefined && namedPort !== port) return false;
			const pattern = withoutBrackets(named).toLowerCase();
			if (isInRange(host, pattern)) return true;
			const suffix = pattern.replace(/^\*?\./, '').replace(/\.$/, '');
			return host === suffix || host.endsWith(`.${suffix}`);
		});
}

function isInRange(host: string, pattern: string): boolean {
	const address = parseIpAddress(host);
	const range = parseIpRange(pattern);
	if (address === undefined || range === undefined || address.family !== range.address.family) return false;
	const hostBits = BigInt((address.family === 4 ? 32 : 128) - range.prefixLength);
	return address.bits >> hostBits === range.address.bits >> hostBits;
}

/** Addresses that a provider may have. A hostname is checked again at connect time, by the address that it resolves to. */
import { addressClassNames, classifyAddress } from '../policy/firewall/address-class.ts';
import { isWebAddress } from './values.ts';

const ownName = 'this machine';

/** Returns the reason to reject a `base_url` unless the private network is allowed; undefined when it is valid, or is no URL at all. */
export function privateNetworkProblem(text: string): string | undefined {
	if (!isWebAddress(text)) return undefined;
	const url = new URL(text);
	const privacy = privateHost(url.hostname);
	if (privacy !== undefined) return `resolves to ${privacy}: set allow_private_network: true to allow it`;
	if (url.protocol !== 'https:') return 'must be https: plain http requires allow_private_network: true';
	return undefined;
}

/** Returns the URL as the parser spells it, without trailing slashes; a text that is no URL is returned unchanged. */
export function normaliseBaseUrl(text: string): string {
	return URL.canParse(text) ? new URL(text).href.replace(/\/+$/, '') : text;
}

/** Returns true if a URL's host is the machine that connects. */
export function isThisMachine(hostname: string): boolean {
	const where = privateHost(hostname);
	return where === ownName || where === addressClassNames.loopback;
}

function privateHost(hostname: string): string | undefined {
	const host = hostname.replace(/\.$/, '');
	if (host === 'localhost' || host.endsWith('.localhost')) return ownName;
	const addressClass = classifyAddress(host);
	return addressClass === 'invalid' || addressClass === 'public' ? undefined : addressClassNames[addressClass];
}

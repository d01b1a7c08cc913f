/** Where a provider may live. A name is judged again at connect time, by the address that it resolves to. */
import { addressClassNames, classifyAddress } from '../policy/firewall/address-class.ts';
import { isWebAddress } from './values.ts';

const ownName = 'this machine';

/** Why a `base_url` is refused unless the private network is allowed; undefined when it may be used, or is no URL at all. */
export function privateNetworkProblem(text: string): string | undefined {
	if (!isWebAddress(text)) return undefined;
	const url = new URL(text);
	const privacy = privateHost(url.hostname);
	if (privacy !== undefined) return `resolves to ${privacy}: set allow_private_network: true to allow it`;
	if (url.protocol !== 'https:') return 'must be https: plain http requires allow_private_network: true';
	return undefined;
}

/** The URL as the parser spells it, without the closing slash; a text that is no URL is returned as it is. */
export function normaliseBaseUrl(text: string): string {
	return URL.canParse(text) ? new URL(text).href.replace(/\/+$/, '') : text;
}

/** Whether a URL's host is the machine that asks. */
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

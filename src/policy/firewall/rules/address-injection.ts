/** Reads values as addresses, in any spelling of the host, and classifies their targets. */
import { type AddressClass, classifyAddress } from '../address-class.ts';
import type { TextTest } from './signature.ts';

/** Schemes that make a server fetch something. */
const schemes =
	'https?|ftps?|sftp|tftp|gopher|dict|ldaps?|ldapi|wss?|smb|cifs|smtps?|imaps?|pop3s?|telnet|ssh|rtmps?|rtsp|redis|rediss|mysql|postgres(?:ql)?|mongodb|memcached?|amqps?|git|svn|jdbc:[a-z]{2,12}|jndi|rmi|iiop|nfs|dns|irc|ircs|xmpp|news|nntp|mqtt|coap|finger|whois|tcp|udp|file';

/** Matches an address at the beginning of a value, also inside another one (`jar:`, `url=`), or without a scheme. */
const addressPattern = new RegExp(
	`(?:^|\\n|["' ]|url[=:(]|jar:|view-source:|feed:|img:)((?:${schemes}):[\\\\/]{0,8}|[\\\\/]{2,8})([^\\n\\\\/? "']{1,300})`,
	'g',
);

const innerNames =
	/^(?:(?:[\w-]{1,63}\.){0,6}localhost|localhost\d?\.localdomain\d?|localhost\d|ip6?v?\d?-(?:localhost|loopback)|ipv6-(?:localhost|loopback)|kubernetes(?:\.default)?|(?:[\w-]{1,63}\.){1,5}(?:svc|cluster\.local|localdomain)|host\.docker\.internal|gateway\.docker\.internal|(?:[\w-]{1,63}\.){0,6}(?:nip\.io|sslip\.io|xip\.io|localtest\.me|lvh\.me|vcap\.me|lacolhost\.com|fuf\.me|readme\.localtest\.me|1u\.ms|rbndr\.us|rebind\.it))\.?$/;
const innerNamesWithPath = /^(?:[\w-]{1,63}\.){1,6}(?:internal|intranet|corp|lan|home\.arpa)\.?$/;

type Position = 'inner' | 'metadata' | 'address' | 'elsewhere';

const innerClasses: ReadonlySet<AddressClass> = new Set(['loopback', 'private', 'link_local', 'shared', 'unspecified']);

function positionOf(host: string, hasPath: boolean): Position {
	const bare = host.replace(/:\d{0,5}$/, '');
	if (innerNames.test(bare) || (hasPath && innerNamesWithPath.test(bare))) return 'inner';
	// Most hosts are names, which this check skips faster than the classification.
	if (!/^(?:[\d.]|0x|\[)|^[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2}/.test(host)) return 'elsewhere';
	const ip = host.startsWith('[') ? host.replace(/\](?::\d{0,5})?$/, ']') : (dottedDecimal(bare) ?? host);
	const addressClass = classifyAddress(ip);
	if (addressClass === 'metadata') return 'metadata';
	if (addressClass === 'invalid') return 'elsewhere';
	return innerClasses.has(addressClass) ? 'inner' : 'address';
}

/** Parses one to four parts in decimal, octal or hexadecimal, the last of which fills the remaining bytes, as `inet_aton` does. */
function dottedDecimal(host: string): string | undefined {
	const parts = host.replace(/\.$/, '').split('.');
	if (parts.length > 4) return undefined;
	// Numbers that are too large wrap around, as in parsers without a range check.
	let bits = 0;
	for (const [index, part] of parts.entries()) {
		if (!/^(?:0x[0-9a-f]{0,16}|\d{1,16})$/.test(part)) return undefined;
		const value = part.startsWith('0x')
			? Number.parseInt(part.slice(2) || '0', 16)
			: Number.parseInt(part, /^0[0-7]+$/.test(part) ? 8 : 10);
		const isLast = index === parts.length - 1;
		const size = 256 ** (isLast ? 5 - parts.length : 1);
		bits += isLast ? value % size : (value % size) * 256 ** (3 - index);
	}
	return [24, 16, 8, 0].map((shift) => Math.floor(bits / 2 ** shift) % 256).join('.');
}

function leadsTo(text: string, wanted: (position: Position, scheme: string) => boolean): boolean {
	if (!/[:\\/]{2}|:\d/.test(text) && !/\b(?:http|ftp)s?:/.test(text)) return false;
	for (const found of text.matchAll(addressPattern)) {
		const [whole, scheme = '', authority = ''] = found;
		const hasPath = /[\\/:?]/.test(text[found.index + whole.length] ?? '') || /:\d/.test(authority);
		// Parsers disagree about which of several parts is the host.
		for (const part of authority.split(/[@#!]/)) if (part !== '' && wanted(positionOf(part, hasPath), scheme)) return true;
	}
	return false;
}

export const innerAddress: TextTest = {
	source: 'addresses of the network inside',
	anySign: ':/',
	test: (text) => leadsTo(text, (position) => position === 'inner' || position === 'metadata'),
};

export const metadataAddress: TextTest = {
	source: 'addresses of metadata services',
	anySign: ':/',
	test: (text) => leadsTo(text, (position) => position === 'metadata'),
};

/** Matches an address with a numeric host, which links in pages do not have. */
export const numericAddress: TextTest = {
	source: 'addresses with numbers for hosts',
	anySign: ':/',
	test: (text) =>
		leadsTo(text, (position, scheme) => position !== 'elsewhere' && /[a-z]/.test(scheme)) ||
		leadsTo(text, (position) => position === 'address'),
};

import { parseIpAddress } from './ip-address.ts';

/** What counts as one source: an IPv4 address, or the first 64 bits of an IPv6 address. Two unsigned 32-bit numbers. */
export interface SourceKey {
	readonly high: number;
	readonly low: number;
}

/** No IPv6 unicast address begins with these bits, so IPv4 sources have a space of their own. */
const ipv4High = 0xffff_ffff;

/** All that is not an address, such as the peer of a local socket, is one source. */
const unknownSource: SourceKey = { high: 0, low: 0 };

const mappedPrefix = '::ffff:';

/** @param address as a socket gives it; an IPv4 address mapped into IPv6 is that IPv4 address. */
export function sourceKey(address: string): SourceKey {
	const plain = address.startsWith(mappedPrefix) ? address.slice(mappedPrefix.length) : address;
	const ipv4 = readIpv4(plain);
	return ipv4 === -1 ? readOther(address) : { high: ipv4High, low: ipv4 };
}

/** The first four groups written out, as they mostly are; anything else goes the slow way. */
const fourGroups = /^([0-9A-Fa-f]{1,4}):([0-9A-Fa-f]{1,4}):([0-9A-Fa-f]{1,4}):([0-9A-Fa-f]{1,4}):/;

function readOther(address: string): SourceKey {
	const [, first = '', second = '', third = '', fourth = ''] = fourGroups.exec(address) ?? [];
	// Zeros may be the beginning of a mapped IPv4 address.
	const high = pair(first, second);
	if (high > 0) return { high, low: pair(third, fourth) };
	const parsed = parseIpAddress(address);
	if (parsed === undefined) return unknownSource;
	const { family, bits } = parsed;
	if (family === 4 || bits >> 32n === 0xffffn) return { high: ipv4High, low: Number(bits & 0xffff_ffffn) };
	return { high: Number(bits >> 96n), low: Number((bits >> 64n) & 0xffff_ffffn) };
}

function pair(high: string, low: string): number {
	return Number.parseInt(high, 16) * 0x1_0000 + Number.parseInt(low, 16);
}

/** Dotted decimals in one pass without allocation, for this runs on every request; -1 for anything else. */
function readIpv4(text: string): number {
	let bits = 0;
	let octet = 0;
	let digits = 0;
	let dots = 0;
	for (let at = 0; at < text.length; at++) {
		const code = text.charCodeAt(at);
		if (code === 0x2e && digits > 0) {
			bits = bits * 256 + octet;
			octet = 0;
			digits = 0;
			dots++;
		} else if (code >= 0x30 && code <= 0x39) {
			octet = octet * 10 + code - 0x30;
			digits++;
			if (octet > 255) return -1;
		} else {
			return -1;
		}
	}
	return dots === 3 && digits > 0 ? bits * 256 + octet : -1;
}

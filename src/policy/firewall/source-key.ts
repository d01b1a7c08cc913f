import { parseIpAddress } from './ip-address.ts';

/** Identifies one source: an IPv4 address, or the first 64 bits of an IPv6 address. Two unsigned 32-bit numbers. */
export interface SourceKey {
	readonly high: number;
	readonly low: number;
}

/** Upper half of IPv4 sources, with which no IPv6 unicast address begins, so that the two never collide. */
const ipv4High = 0xffff_ffff;

/** Source of everything without an IP address, such as the peer of a local socket. */
const unknownSource: SourceKey = { high: 0, low: 0 };

const mappedPrefix = '::ffff:';

/** @param address in the form of a socket; an IPv4-mapped IPv6 address is that IPv4 address. */
export function sourceKey(address: string): SourceKey {
	const plain = address.startsWith(mappedPrefix) ? address.slice(mappedPrefix.length) : address;
	const ipv4 = readIpv4(plain);
	return ipv4 === -1 ? readOther(address) : { high: ipv4High, low: ipv4 };
}

/** Fast path for four complete groups; any other spelling takes the slow path. */
const fourGroups = /^([0-9A-Fa-f]{1,4}):([0-9A-Fa-f]{1,4}):([0-9A-Fa-f]{1,4}):([0-9A-Fa-f]{1,4}):/;

function readOther(address: string): SourceKey {
	const [, first = '', second = '', third = '', fourth = ''] = fourGroups.exec(address) ?? [];
	// Zeros can be the beginning of an IPv4-mapped address.
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

/** Parses dotted decimals in one pass without allocation, because this runs for every request; -1 for anything else. */
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

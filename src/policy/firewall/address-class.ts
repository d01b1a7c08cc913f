/** Classifies IP addresses, so that no request reaches a network that the operator did not intend. */
import { parseIpAddress } from './ip-address.ts';

export type AddressClass =
	| 'public'
	| 'loopback'
	| 'private'
	| 'link_local'
	| 'shared'
	| 'metadata'
	| 'multicast'
	| 'unspecified'
	| 'reserved'
	| 'invalid';

/** Descriptions of the classes for configuration errors. */
export const addressClassNames: Readonly<Record<AddressClass, string>> = {
	public: 'a public address',
	loopback: 'a loopback address',
	private: 'a private address',
	link_local: 'a link-local address',
	shared: 'a carrier-grade NAT address',
	metadata: 'a cloud metadata address',
	multicast: 'a multicast address',
	unspecified: 'the unspecified address',
	reserved: 'a reserved address',
	invalid: 'not an IP address',
};

type Prefix = readonly [bits: bigint, length: number, addressClass: AddressClass];

/** First match wins. Sources: IANA IPv4 Special-Purpose Address Registry; metadata services of the large clouds. */
const ipv4Prefixes: readonly Prefix[] = [
	v4('169.254.169.254', 32, 'metadata'),
	v4('169.254.170.2', 32, 'metadata'),
	v4('168.63.129.16', 32, 'metadata'),
	v4('100.100.100.200', 32, 'metadata'),
	v4('192.0.0.192', 32, 'metadata'),
	v4('0.0.0.0', 8, 'unspecified'),
	v4('10.0.0.0', 8, 'private'),
	v4('100.64.0.0', 10, 'shared'),
	v4('127.0.0.0', 8, 'loopback'),
	v4('169.254.0.0', 16, 'link_local'),
	v4('172.16.0.0', 12, 'private'),
	v4('192.0.0.0', 24, 'reserved'),
	v4('192.0.2.0', 24, 'reserved'),
	v4('192.88.99.0', 24, 'reserved'),
	v4('192.168.0.0', 16, 'private'),
	v4('198.18.0.0', 15, 'reserved'),
	v4('198.51.100.0', 24, 'reserved'),
	v4('203.0.113.0', 24, 'reserved'),
	v4('224.0.0.0', 4, 'multicast'),
	v4('240.0.0.0', 4, 'reserved'),
];

/** First match wins; all other addresses are reserved. Source: IANA IPv6 Special-Purpose Address Registry. */
const ipv6Prefixes: readonly Prefix[] = [
	v6('fd00:ec2::254', 128, 'metadata'),
	v6('fd20:ce::254', 128, 'metadata'),
	v6('::', 128, 'unspecified'),
	v6('::1', 128, 'loopback'),
	v6('fc00::', 7, 'private'),
	v6('fe80::', 10, 'link_local'),
	v6('fec0::', 10, 'private'),
	v6('ff00::', 8, 'multicast'),
	v6('64:ff9b:1::', 48, 'private'),
	v6('2001::', 23, 'reserved'),
	v6('2001:db8::', 32, 'reserved'),
	v6('3fff::', 20, 'reserved'),
	v6('2000::', 3, 'public'),
];

/** Prefixes that embed an IPv4 address, and the number of bits below it. The IPv4 address is classified, because packets are sent there. */
const ipv4Carriers: readonly (readonly [bits: bigint, length: number, bitsBelow: bigint])[] = [
	carrier('::ffff:0:0', 96, 0n),
	carrier('::ffff:0:0:0', 96, 0n),
	carrier('::', 96, 0n),
	carrier('64:ff9b::', 96, 0n),
	carrier('2002::', 16, 80n),
];

/**
 * @param ip an address in the form of a socket or a parsed URL's host (IPv6 with or without brackets). Octal, hexadecimal and single-number
 * spellings are `invalid`, because a URL parser converts them to dotted decimals first.
 */
export function classifyAddress(ip: string): AddressClass {
	const address = parseIpAddress(ip);
	if (address === undefined) return 'invalid';
	return address.family === 4 ? classifyIpv4(address.bits) : classifyIpv6(address.bits);
}

/** Returns true only for an address on the public internet; false for text that is not an address. */
export function isPublicAddress(ip: string): boolean {
	return classifyAddress(ip) === 'public';
}

function classifyIpv4(bits: bigint): AddressClass {
	return firstMatch(ipv4Prefixes, bits, 32) ?? 'public';
}

function classifyIpv6(bits: bigint): AddressClass {
	if (bits > 1n) {
		for (const [prefix, length, bitsBelow] of ipv4Carriers) {
			if (bits >> BigInt(128 - length) === prefix) return classifyIpv4((bits >> bitsBelow) & 0xffff_ffffn);
		}
	}
	return firstMatch(ipv6Prefixes, bits, 128) ?? 'reserved';
}

function firstMatch(prefixes: readonly Prefix[], bits: bigint, width: number): AddressClass | undefined {
	return prefixes.find(([prefix, length]) => bits >> BigInt(width - length) === prefix)?.[2];
}

function v4(address: string, length: number, addressClass: AddressClass): Prefix {
	return [prefixBits(address, length, 32), length, addressClass];
}

function v6(address: string, length: number, addressClass: AddressClass): Prefix {
	return [prefixBits(address, length, 128), length, addressClass];
}

function carrier(address: string, length: number, bitsBelow: bigint): readonly [bigint, number, bigint] {
	return [prefixBits(address, length, 128), length, bitsBelow];
}

function prefixBits(address: string, length: number, width: number): bigint {
	return (parseIpAddress(address)?.bits ?? 0n) >> BigInt(width - length);
}

import type { HttpRequest } from '../../core/handler.ts';
import { type IpAddress, parseIpAddress, parseIpRange } from './ip-address.ts';

export type ReadClientAddress = (request: Pick<HttpRequest, 'peerAddress' | 'headers'>) => string;

/**
 * Creates a reader of the client's address: the peer of the connection, unless that is a trusted proxy. Then `x-forwarded-for` is read from
 * its end, past further trusted proxies, to the first other address. An invalid entry ends the search: the proxy that wrote it is the
 * client.
 * @param trustedProxies addresses and CIDR ranges.
 */
export function createClientAddressReader(trustedProxies: readonly string[]): ReadClientAddress {
	if (trustedProxies.length === 0) return ({ peerAddress }) => peerAddress;
	const isTrusted = createProxyTest(trustedProxies);
	return ({ peerAddress, headers }) => {
		let address = peerAddress;
		const hops = readHops(headers['x-forwarded-for']);
		for (let index = hops.length - 1; index >= 0 && isTrusted(address); index--) {
			const hop = withoutPort(hops[index]?.trim() ?? '');
			if (parseIpAddress(hop) === undefined) break;
			address = hop;
		}
		return address;
	};
}

export function createProxyTest(trustedProxies: readonly string[]): (address: string) => boolean {
	const ranges = trustedProxies.map(readRange);
	return (address) => {
		const parsed = parseIpAddress(address);
		return parsed !== undefined && ranges.some((range) => range.includes(unmap(parsed)));
	};
}

interface Range {
	includes(address: IpAddress): boolean;
}

function readRange(text: string): Range {
	const range = parseIpRange(text);
	if (range === undefined) throw new TypeError(`Not an address or range: ${text}`);
	const { family, bits } = range.address;
	const ignored = BigInt((family === 4 ? 32 : 128) - range.prefixLength);
	const prefix = bits >> ignored;
	return { includes: (address) => address.family === family && address.bits >> ignored === prefix };
}

/** Converts `::ffff:a.b.c.d`, in which dual-stack sockets report IPv4 peers. */
function unmap(address: IpAddress): IpAddress {
	const isMapped = address.family === 6 && address.bits >> 32n === 0xffffn;
	return isMapped ? { family: 4, bits: address.bits & 0xffff_ffffn } : address;
}

function readHops(forwardedFor: string | string[] | undefined): string[] {
	if (forwardedFor === undefined) return [];
	return (typeof forwardedFor === 'string' ? forwardedFor : forwardedFor.join(',')).split(',');
}

/** Removes the port, because some balancers write `a.b.c.d:port` or `[v6]:port`. */
function withoutPort(hop: string): string {
	return /^(?:(\d+\.\d+\.\d+\.\d+)|\[([^\]]+)\]):\d{1,5}$/.exec(hop)?.slice(1).find(Boolean) ?? hop;
}

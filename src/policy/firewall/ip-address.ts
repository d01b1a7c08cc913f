import { withoutBrackets } from '../../core/url-host.ts';

export interface IpAddress {
	readonly family: 4 | 6;
	/** Address of 32 or 128 bits as one number. */
	readonly bits: bigint;
}

/** Parses strict dotted decimals or RFC 4291 section 2.2 text; drops the brackets and the zone of an IPv6 address. */
export function parseIpAddress(text: string): IpAddress | undefined {
	const bare = withoutBrackets(text);
	if (!bare.includes(':')) {
		const bits = bare === text ? parseIpv4(bare) : undefined;
		return bits === undefined ? undefined : { family: 4, bits };
	}
	const [address, zone] = bare.split('%', 2);
	if (address === undefined || zone === '') return undefined;
	const bits = parseIpv6(address);
	return bits === undefined ? undefined : { family: 6, bits };
}

/** Parses an address, or a CIDR range such as `10.0.0.0/8`; returns undefined for anything else. */
export function parseIpRange(text: string): { readonly address: IpAddress; readonly prefixLength: number } | undefined {
	const slash = text.indexOf('/');
	const address = parseIpAddress(slash === -1 ? text : text.slice(0, slash));
	if (address === undefined) return undefined;
	const width = address.family === 4 ? 32 : 128;
	if (slash === -1) return { address, prefixLength: width };
	const length = text.slice(slash + 1);
	if (!/^(0|[1-9]\d{0,2})$/.test(length) || Number(length) > width) return undefined;
	return { address, prefixLength: Number(length) };
}

function parseIpv4(text: string): bigint | undefined {
	const parts = text.split('.');
	if (parts.length !== 4) return undefined;
	let bits = 0n;
	for (const part of parts) {
		if (!/^(0|[1-9]\d{0,2})$/.test(part) || Number(part) > 255) return undefined;
		bits = (bits << 8n) | BigInt(part);
	}
	return bits;
}

function parseIpv6(text: string): bigint | undefined {
	const halves = text.split('::');
	if (halves.length > 2) return undefined;
	const head = parseGroups(halves[0] ?? '', halves.length === 1);
	const tail = halves.length === 1 ? [] : parseGroups(halves[1] ?? '', true);
	if (head === undefined || tail === undefined) return undefined;
	const missing = 8 - head.length - tail.length;
	if (halves.length === 1 ? missing !== 0 : missing < 1) return undefined;
	const groups = [...head, ...Array.from({ length: missing }, () => 0n), ...tail];
	return groups.reduce((bits, group) => (bits << 16n) | group, 0n);
}

/** Parses colon-separated groups of 16 bits; the last two can be an IPv4 address if the text may end in one. */
function parseGroups(text: string, canEndInIpv4: boolean): bigint[] | undefined {
	if (text === '') return [];
	const parts = text.split(':');
	const groups: bigint[] = [];
	for (const [index, part] of parts.entries()) {
		if (/^[0-9a-fA-F]{1,4}$/.test(part)) {
			groups.push(BigInt(`0x${part}`));
			continue;
		}
		const ipv4 = canEndInIpv4 && index === parts.length - 1 ? parseIpv4(part) : undefined;
		if (ipv4 === undefined) return undefined;
		groups.push(ipv4 >> 16n, ipv4 & 0xffffn);
	}
	return groups;
}

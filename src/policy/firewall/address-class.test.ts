import { BlockList, isIP } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AddressClass, addressClassNames, classifyAddress, isPublicAddress } from './address-class.ts';

const cases: readonly [ip: string, expected: AddressClass][] = [
	['8.8.8.8', 'public'],
	['1.1.1.1', 'public'],
	['172.15.255.255', 'public'],
	['172.32.0.0', 'public'],
	['100.63.255.255', 'public'],
	['100.128.0.0', 'public'],
	['126.255.255.255', 'public'],
	['128.0.0.0', 'public'],
	['192.167.255.255', 'public'],
	['223.255.255.255', 'public'],
	['127.0.0.1', 'loopback'],
	['127.9.8.7', 'loopback'],
	['0.0.0.0', 'unspecified'],
	['0.1.2.3', 'unspecified'],
	['10.0.0.1', 'private'],
	['172.16.0.1', 'private'],
	['172.31.255.255', 'private'],
	['192.168.1.1', 'private'],
	['100.64.0.1', 'shared'],
	['100.127.255.255', 'shared'],
	['169.254.169.254', 'metadata'],
	['169.254.170.2', 'metadata'],
	['168.63.129.16', 'metadata'],
	['100.100.100.200', 'metadata'],
	['192.0.0.192', 'metadata'],
	['169.254.0.1', 'link_local'],
	['192.0.0.1', 'reserved'],
	['192.0.2.1', 'reserved'],
	['192.88.99.1', 'reserved'],
	['198.18.0.1', 'reserved'],
	['198.51.100.1', 'reserved'],
	['203.0.113.1', 'reserved'],
	['224.0.0.1', 'multicast'],
	['239.255.255.255', 'multicast'],
	['240.0.0.1', 'reserved'],
	['255.255.255.255', 'reserved'],
	['2606:4700:4700::1111', 'public'],
	['2a00:1450:4001:830::200e', 'public'],
	['::', 'unspecified'],
	['::1', 'loopback'],
	['0:0:0:0:0:0:0:1', 'loopback'],
	['[::1]', 'loopback'],
	['fc00::1', 'private'],
	['fdff::1', 'private'],
	['fd00:ec2::254', 'metadata'],
	['fd20:ce::254', 'metadata'],
	['fe80::1', 'link_local'],
	['fe80::1%eth0', 'link_local'],
	['febf::1', 'link_local'],
	['fec0::1', 'private'],
	['ff02::1', 'multicast'],
	['64:ff9b:1::1', 'private'],
	['100::1', 'reserved'],
	['2001::1', 'reserved'],
	['2001:db8::1', 'reserved'],
	['3fff::1', 'reserved'],
	['5f00::1', 'reserved'],
	['4000::1', 'reserved'],
	['::ffff:127.0.0.1', 'loopback'],
	['::ffff:7f00:1', 'loopback'],
	['[::ffff:127.0.0.1]', 'loopback'],
	['0:0:0:0:0:ffff:a9fe:a9fe', 'metadata'],
	['::ffff:8.8.8.8', 'public'],
	['::ffff:0:10.0.0.1', 'private'],
	['::127.0.0.1', 'loopback'],
	['::2', 'unspecified'],
	['64:ff9b::10.0.0.1', 'private'],
	['64:ff9b::808:808', 'public'],
	['2002:7f00:1::', 'loopback'],
	['2002:a9fe:a9fe::1', 'metadata'],
	['2002:808:808::1', 'public'],
];

describe('classifyAddress', () => {
	it.each(cases)('%s is %s', (ip, expected) => {
		expect(classifyAddress(ip)).toBe(expected);
		expect(isPublicAddress(ip)).toBe(expected === 'public');
	});

	it.each(
		[
			['', '127.1', '2130706433', '0x7f000001', '0177.0.0.1', '127.0.0.01', '1.2.3.4.', '1.2.3', '256.1.1.1', '1.2.3.4 '],
			['[8.8.8.8]', ':', ':::', '1::2::3', '1:2:3:4:5:6:7', '1:2:3:4:5:6:7:8:9', '12345::', '::g', '1.2.3.4::', 'fe80::1%', 'localhost'],
			['1:2:3:4:5:6:7::8:9', '::1.2.3', '::1.2.3.4:5', '::ffff:1.2.3.256', '1:2:3:4:5:6:7:1.2.3.4', '8.8.8.8/8', '８.8.8.8'],
		].flat(),
	)('%j is no address', (text) => {
		expect(classifyAddress(text)).toBe('invalid');
		expect(isPublicAddress(text)).toBe(false);
	});

	it.each([
		'http://2130706433/',
		'http://0x7f000001/',
		'http://0177.0.0.1/',
		'http://0x7f.1/',
		'http://127.1/',
		'http://127.0.0.1./',
		'http://[::ffff:127.0.0.1]/',
		'http://[::ffff:7f00:0001]/',
		'http://0xa9fea9fe/',
		'http://2852039166/',
		'http://１２７.0.0.1/',
	])('%s: the host that the URL parser makes of it is not public', (url) => {
		const host = new URL(url).hostname;
		expect(classifyAddress(host)).not.toBe('invalid');
		expect(isPublicAddress(host)).toBe(false);
	});

	it('takes for an address exactly what the platform takes for one', () => {
		const piece = fc.oneof(fc.constantFrom(':', '::', '.', '0', 'ffff', '1.2.3.4', '127', '256', '00'), fc.string({ maxLength: 3 }));
		const nearly = fc.array(piece, { maxLength: 10 }).map((pieces) => pieces.join(''));
		fc.assert(
			fc.property(fc.oneof(fc.ipV4(), fc.ipV6(), nearly), (text) => {
				fc.pre(!text.includes('%') && !text.startsWith('['));
				expect(classifyAddress(text) === 'invalid').toBe(isIP(text) === 0);
			}),
			{ numRuns: 2000 },
		);
	});

	it('calls no private or loopback address public, by the judgement of the platform’s block list', () => {
		const blocked = new BlockList();
		blocked.addSubnet('10.0.0.0', 8);
		blocked.addSubnet('172.16.0.0', 12);
		blocked.addSubnet('192.168.0.0', 16);
		blocked.addSubnet('127.0.0.0', 8);
		blocked.addSubnet('fc00::', 7, 'ipv6');
		blocked.addSubnet('fe80::', 10, 'ipv6');
		const near = fc
			.tuple(fc.constantFrom('10', '127', '172.16', '172.31', '172.32', '192.168'), fc.nat(255), fc.nat(255), fc.nat(255))
			.map(([head, ...tail]) => [...head.split('.'), ...tail].slice(0, 4).join('.'));
		fc.assert(
			fc.property(fc.oneof(fc.ipV4(), near, fc.ipV6()), (ip) => {
				if (blocked.check(ip, isIP(ip) === 4 ? 'ipv4' : 'ipv6')) expect(isPublicAddress(ip)).toBe(false);
			}),
			{ numRuns: 1000 },
		);
	});

	it('has a name for every class', () => {
		for (const [, addressClass] of cases) expect(addressClassNames[addressClass]).toMatch(/address/);
	});
});

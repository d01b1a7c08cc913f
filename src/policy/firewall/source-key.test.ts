import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { HttpRequest } from '../../core/handler.ts';
import { createClientAddressReader } from './client-address.ts';
import { parseIpAddress } from './ip-address.ts';
import { sourceKey } from './source-key.ts';

describe('a source', () => {
	test.each([
		['192.0.2.1', '::ffff:192.0.2.1'],
		['192.0.2.1', '::ffff:c000:201'],
		['192.0.2.1', '0:0:0:0:0:ffff:192.0.2.1'],
		['2001:db8:1:2::1', '2001:db8:1:2:ffff:ffff:ffff:ffff'],
		['2001:db8::1', '2001:0DB8:0:0::2'],
		['fe80::1%eth0', 'fe80::2'],
	])('%s and %s are one', (a, b) => {
		expect(sourceKey(a)).toEqual(sourceKey(b));
	});

	test.each([
		['192.0.2.1', '192.0.2.2'],
		['2001:db8:1:2::1', '2001:db8:1:3::1'],
		['0.0.0.0', '::'],
		['0.0.0.1', '::1'],
		['192.0.2.1', 'c000:201::'],
	])('%s and %s are two', (a, b) => {
		expect(sourceKey(a)).not.toEqual(sourceKey(b));
	});

	test.each(['', 'localhost', '1.2.3', '1.2.3.4.5', '1.2.3.256', '1..2.3', '1.2.3.', '.1.2.3', '1.2.3.4 ', '::ffff:'])(
		'%j is no address',
		(text) => {
			expect(sourceKey(text)).toEqual(sourceKey('not an address'));
		},
	);

	test('IPv4 is read as the strict parser reads it', () => {
		fc.assert(
			fc.property(fc.ipV4(), (address) => {
				expect(BigInt(sourceKey(address).low)).toBe(parseIpAddress(address)?.bits);
			}),
		);
	});
});

describe('x-forwarded-for counts only from trusted proxies', () => {
	const read = (trusted: string[], peerAddress: string, forwardedFor?: string | string[]): string => {
		const headers: HttpRequest['headers'] = forwardedFor === undefined ? {} : { 'x-forwarded-for': forwardedFor };
		return createClientAddressReader(trusted)({ peerAddress, headers });
	};

	test.each<[string, string[], string, string | string[] | undefined, string]>([
		['nobody trusted: the peer', [], '10.0.0.1', '203.0.113.9', '10.0.0.1'],
		['the peer not trusted: the peer', ['10.0.0.2'], '10.0.0.1', '203.0.113.9', '10.0.0.1'],
		['a trusted peer: the last entry', ['10.0.0.1'], '10.0.0.1', '198.51.100.7, 203.0.113.9', '203.0.113.9'],
		['trusted proxies in a row: the entry before them', ['10.0.0.0/8'], '10.0.0.1', '198.51.100.7, 203.0.113.9, 10.9.9.9', '203.0.113.9'],
		['all trusted: the first', ['10.0.0.0/8'], '10.0.0.1', '10.0.0.3,10.0.0.2', '10.0.0.3'],
		['nothing forwarded: the peer', ['10.0.0.1'], '10.0.0.1', undefined, '10.0.0.1'],
		['an empty header: the peer', ['10.0.0.1'], '10.0.0.1', '', '10.0.0.1'],
		['a malformed last entry: the peer', ['10.0.0.1'], '10.0.0.1', '203.0.113.9, unknown', '10.0.0.1'],
		['a malformed entry further left: the trusted proxy before it', ['10.0.0.0/8'], '10.0.0.1', "203.0.113.9, '1', 10.0.0.2", '10.0.0.2'],
		['several headers: as one list', ['10.0.0.1'], '10.0.0.1', ['198.51.100.7', '203.0.113.9'], '203.0.113.9'],
		['a mapped peer', ['10.0.0.0/8'], '::ffff:10.0.0.1', '203.0.113.9', '203.0.113.9'],
		['a trusted IPv6 range', ['fd00::/8'], 'fd00::5', '2001:db8::1', '2001:db8::1'],
		['an entry with a port', ['10.0.0.1'], '10.0.0.1', '203.0.113.9:4711', '203.0.113.9'],
		['a bracketed entry with a port', ['10.0.0.1'], '10.0.0.1', '[2001:db8::1]:4711', '2001:db8::1'],
		['a range of all of IPv4 is not one of IPv6', ['0.0.0.0/0'], 'fd00::5', '203.0.113.9', 'fd00::5'],
	])('%s', (_title, trusted, peer, forwardedFor, address) => {
		expect(read(trusted, peer, forwardedFor)).toBe(address);
	});

	test('an invalid range is rejected when it is configured', () => {
		expect(() => createClientAddressReader(['10.0.0.0/40'])).toThrow(/10\.0\.0\.0\/40/);
	});
});

/**
 * Sixty addresses that a provider may not have without `allow_private_network`. A hostname is checked at connect time, by the address that
 * it resolves to.
 */
import { describe, expect, it } from 'vitest';
import { parseConfig } from './load.ts';
import { ConfigError } from './problem.ts';

function rejectionOf(base_url: string): string {
	try {
		parseConfig(JSON.stringify({ providers: { mine: { kind: 'openai', base_url } } }), { file: 'tollgate.yaml', env: {} });
	} catch (cause) {
		if (cause instanceof ConfigError) return cause.message;
		throw cause;
	}
	return '';
}

/** Spellings that URL parsers, resolvers and sockets read as addresses of this machine, its network, or its cloud. */
const hosts = [
	// Metadata services
	'169.254.169.254',
	'169.254.169.254.',
	'2852039166',
	'0xa9fea9fe',
	'0xA9.0xFE.0xA9.0xFE',
	'0251.0376.0251.0376',
	'169.16689662',
	'169.254.43518',
	'[::ffff:169.254.169.254]',
	'[::ffff:a9fe:a9fe]',
	'[0:0:0:0:0:ffff:a9fe:a9fe]',
	'[64:ff9b::a9fe:a9fe]',
	'[2002:a9fe:a9fe::]',
	'[fd00:ec2::254]',
	'[fd20:ce::254]',
	'169.254.170.2',
	'100.100.100.200',
	'168.63.129.16',
	'192.0.0.192',
	'%31%36%39.254.169.254',
	'１６９.254.169.254',
	'169。254。169。254',
	// This machine
	'127.0.0.1',
	'127.0.0.1.',
	'127.1',
	'127.0.1',
	'127.255.255.255',
	'2130706433',
	'017700000001',
	'0x7f000001',
	'0x7f.0.0.1',
	'0177.0.0.1',
	'localhost',
	'LOCALHOST',
	'localhost.',
	'x.localhost',
	'a.b.localhost.',
	'[::1]',
	'[0:0:0:0:0:0:0:1]',
	'[::ffff:127.0.0.1]',
	'[::ffff:7f00:1]',
	'[::127.0.0.1]',
	'[64:ff9b::7f00:1]',
	'[2002:7f00:1::]',
	'[::]',
	'0',
	'0.0.0.0',
	'①②⑦.⓪.⓪.①',
	// Private networks
	'10.0.0.1',
	'172.16.0.1',
	'172.31.255.255',
	'192.168.0.1',
	'100.64.0.1',
	'169.254.0.1',
	'[fe80::1]',
	'[fc00::1]',
	'[fd12:3456::1]',
	'[fec0::1]',
	'224.0.0.1',
	'255.255.255.255',
	'240.0.0.1',
	'198.18.0.1',
	'[ff02::1]',
];

describe('base addresses', () => {
	it('are sixty at least', () => {
		expect(new Set(hosts).size).toBeGreaterThanOrEqual(60);
	});

	it.each(hosts)('https://%s is rejected without allow_private_network', (host) => {
		for (const address of [`https://${host}`, `https://${host}:8443/v1`]) expect(rejectionOf(address)).toContain('base_url');
	});

	it.each([
		'https://api.example.com@127.0.0.1',
		'https://127.0.0.1#@api.example.com',
		'https://api.example.com#@127.0.0.1',
		'https://api.example.com?@127.0.0.1',
		'https://api.example.com\\@127.0.0.1',
		'https://api.example.com\\.127.0.0.1',
		'https://127.0.0.1\\.api.example.com',
		'https://api.example.com:80@127.0.0.1',
		'https://api.example.com%00.127.0.0.1',
		'https://api.example.com\t@127.0.0.1',
		'https://%61pi.example.com%2f@127.0.0.1',
	])('%j, which two parsers read differently, is rejected', (address) => {
		expect(rejectionOf(address)).toContain('base_url');
	});

	it('an ordinary one is not', () => {
		expect(rejectionOf('https://api.example.com/v1')).toBe('');
	});
});

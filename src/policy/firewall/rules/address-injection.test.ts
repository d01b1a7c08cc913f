import { describe, expect, test } from 'vitest';
import { innerAddress, metadataAddress, numericAddress } from './address-injection.ts';

describe('addresses of the network inside', () => {
	test.each([
		'http://127.0.0.1/',
		'http://127.1',
		'http://2130706433/',
		'http://0x7f.1/',
		'http://017700000001/',
		'http://6425673729/',
		'http://[::ffff:7f00:1]:80/',
		'http://user:word@10.1.2.3/x',
		'http://example.com#@192.168.1.1/',
		'http:\\\\localhost\\x',
		'//127.0.0.1/x',
		'jar:http://10.0.0.1!/x',
		'http://a.127.0.0.1.nip.io/',
		'http://db.svc.cluster.local:5432',
		'http://vault.internal/v1',
	])('%s', (address) => {
		expect(innerAddress.test(address)).toBe(true);
	});

	test.each([
		'http://example.com/',
		'https://198.51.100.7/',
		'http://mylocalhost.example/',
		'localhost',
		'10.0.0.1',
		'see http: it is a protocol',
		'12:30',
		'a//b',
	])('not %s', (address) => {
		expect(innerAddress.test(address)).toBe(false);
	});
});

test.each(['http://169.254.169.254/x', 'http://0xa9fea9fe/', 'http://169.16689662/', 'http://[fd00:ec2::254]/'])(
	'metadata: %s',
	(address) => {
		expect(metadataAddress.test(address)).toBe(true);
	},
);

test('numbers for hosts', () => {
	expect(numericAddress.test('http://198.51.100.7/x')).toBe(true);
	expect(numericAddress.test('https://2001:db8:1:2::9/x.php')).toBe(true);
	expect(numericAddress.test('https://example.com/198.51.100.7')).toBe(false);
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseIpAddress, parseIpRange } from './ip-address.ts';
import { type ReputationList, ReputationListError, ReputationListReader } from './reputation-list.ts';
import { sourceKey } from './source-key.ts';

function read(text: string): ReputationList {
	const reader = new ReputationListReader();
	for (const line of text.split('\n')) reader.add(line);
	return reader.end();
}

function includes(list: ReputationList, address: string): boolean {
	return list.ranges.includes(sourceKey(address), address);
}

const fireHol = `# firehol_test
#
# Maintainer: nobody
198.51.100.0/25
203.0.113.7
203.0.114.0/24
`;
const dropText = `; Spamhaus DROP List 2026/11/20
; Last-Modified: Fri, 20 Nov 2026 12:00:00 GMT
198.51.100.0/25 ; SBL1
203.0.113.7/32 ; SBL2
203.0.114.0/24 ; SBL3`;
const dropLines = `{"cidr":"198.51.100.0/25","sblid":"SBL1","rir":"arin"}
{"cidr":"203.0.113.7/32","sblid":"SBL2","rir":"ripencc"}
{"cidr":"203.0.114.0/24","sblid":"SBL3","rir":"ripencc"}
{"type":"metadata","timestamp":1763640000,"size":3,"records":3,"copyright":"(c)","terms":"https://example.com"}
`;

describe.each([
	['FireHOL netset', fireHol],
	['Spamhaus DROP as text', dropText],
	['Spamhaus DROP as JSON lines', dropLines],
	['lines that end as on Windows', fireHol.replaceAll('\n', '\r\n')],
])('%s', (_format, text) => {
	test('is read', () => {
		const list = read(text);
		expect(list.ranges.size).toBe(3);
		expect(
			['198.51.100.0', '198.51.100.127', '203.0.113.7', '203.0.114.255', '::ffff:203.0.113.7'].filter((one) => !includes(list, one)),
		).toEqual([]);
		expect(
			['198.51.99.255', '198.51.100.128', '203.0.113.6', '203.0.113.8', '203.0.115.0', '::1', ''].filter((one) => includes(list, one)),
		).toEqual([]);
	});
});

describe('a list that cannot be used', () => {
	test.each([
		['a page in its place', '<!doctype html>\n<html>', 1, 'neither an address nor a range'],
		['a range that is none', '198.51.100.0/24\n198.51.100.0/33', 2, '`198.51.100.0/33` is neither'],
		['broken JSON', '{"cidr":"198.51.100.0/24"}\n{"cidr":', 2, 'is not JSON'],
		['JSON of another kind', '{"ip":"198.51.100.1"}', 1, 'has no `cidr`'],
		['a line without end', `# ok\n1${'0'.repeat(5000)}`, 2, 'is longer than'],
		['nothing', '# only a comment\n', 0, 'contains no address'],
	])('%s: line and reason', (_what, text, line, reason) => {
		const failure = catchError(() => read(text));
		expect(failure).toBeInstanceOf(ReputationListError);
		expect(failure).toMatchObject({ line, message: expect.stringContaining(reason) as string });
	});
});

test('ranges that are not of the internet are pointed out, for FireHOL’s first level has them', () => {
	expect(read('198.51.100.0/24\n10.0.0.0/8\n127.0.0.0/8\nfe80::/10').reserved).toEqual([
		{ line: 2, range: '10.0.0.0/8', what: 'a private address' },
		{ line: 3, range: '127.0.0.0/8', what: 'a loopback address' },
		{ line: 4, range: 'fe80::/10', what: 'a link-local address' },
	]);
});

const octet = fc.integer({ min: 0, max: 255 });
const v4Range = fc
	.tuple(octet, octet, octet, octet, fc.integer({ min: 8, max: 32 }))
	.map(([a, b, c, d, length]) => `${a}.${b}.${c}.${d}/${length}`);
const group = fc.constantFrom('0', '1', '7fff', '8000', 'ffff');
const v6Address = fc
	.tuple(fc.constantFrom('2001', '2002'), group, group, group, group, group, group, group)
	.map((groups) => groups.join(':'));
const v6Range = fc.tuple(v6Address, fc.integer({ min: 16, max: 128 })).map(([address, length]) => `${address}/${length}`);

test('finds the same as a naive search of each range', () => {
	const addresses = fc.array(
		fc.oneof(
			fc.tuple(octet, octet, octet, octet).map((parts) => parts.join('.')),
			v6Address,
		),
		{ minLength: 20, maxLength: 20 },
	);
	fc.assert(
		fc.property(fc.array(fc.oneof(v4Range, v6Range), { minLength: 1, maxLength: 40 }), addresses, (ranges, requested) => {
			const list = read(ranges.join('\n'));
			const bounds = ranges.flatMap((range) => [range.split('/')[0] ?? '']);
			for (const address of [...requested, ...bounds]) {
				expect(includes(list, address), `of ${address}`).toBe(ranges.some((range) => isIn(range, address)));
			}
		}),
		{ numRuns: 200 },
	);
});

test('50,000 ranges; 10,000 random addresses agree with each address painted one by one; a lookup takes less than 1 us', () => {
	const network = 23 * 2 ** 24;
	let state = 42;
	const random = (): number => {
		state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
		return Math.imul(state ^ (state >>> 15), 0x2c1b_3c6d) >>> 0;
	};
	const ranges = Array.from({ length: 50_000 }, () => `${textOf(network + (random() >>> 8))}/${24 + (random() % 9)}`);
	const list = read(ranges.join('\n'));
	const painted = new Uint8Array(2 ** 24);
	for (const range of ranges) {
		const parsed = parseIpRange(range);
		if (parsed === undefined) throw new Error(range);
		const size = 2 ** (32 - parsed.prefixLength);
		const first = Math.floor((Number(parsed.address.bits) - network) / size) * size;
		painted.fill(1, first, first + size);
	}
	const requested = Array.from({ length: 10_000 }, () => network + (random() >>> 8));
	const expected = requested.map((bits) => painted[bits - network] === 1);
	expect(requested.map((bits) => includes(list, textOf(bits)))).toEqual(expected);
	expect(expected.filter(Boolean).length).toBeGreaterThan(100);
	const keys = requested.map((bits) => sourceKey(textOf(bits)));
	const minUs = Math.min(
		...Array.from({ length: 5 }, () => {
			const cpu = process.threadCpuUsage();
			for (let round = 0; round < 20; round++) for (const key of keys) list.ranges.includes(key, '');
			const { user, system } = process.threadCpuUsage(cpu);
			return (user + system) / (20 * keys.length);
		}),
	);
	expect(minUs).toBeLessThan(1);
});

function textOf(bits: number): string {
	return [bits >>> 24, (bits >>> 16) & 255, (bits >>> 8) & 255, bits & 255].join('.');
}

function isIn(range: string, address: string): boolean {
	const of = parseIpRange(range);
	const one = parseIpAddress(address);
	if (of === undefined || one === undefined || of.address.family !== one.family) return false;
	const ignored = BigInt((one.family === 4 ? 32 : 128) - of.prefixLength);
	return of.address.bits >> ignored === one.bits >> ignored;
}

function catchError(work: () => unknown): unknown {
	try {
		return work();
	} catch (cause) {
		return cause;
	}
}

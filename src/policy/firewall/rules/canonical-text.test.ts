import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { maxScannedLength, readBodyText, readCookies, readHeaderValue, readPath, readQuery } from './canonical-text.ts';
import { signsOf } from './text-signs.ts';

const plainOf = (readings: readonly { plain: string }[]): string[] => readings.map(({ plain }) => plain);

describe('a text is read as a server might decode it', () => {
	test.each([
		['percent signs', '%3CScript%3E', ['<script>']],
		['percent signs twice', '%253Cscript%253E', ['%3cscript%3e', '<script>']],
		['the %u of old servers', '%u003cscript', ['<script']],
		['character references, decimal and hexadecimal', '&#60;a&#x3E;', ['&#60;a&#x3e;', '<a>']],
		['named character references, also without their end', 'java&Tab;script&colon;&lt', ['java&tab;script&colon;&lt', 'java script:<']],
		['escapes of JavaScript', String.raw`\u003cscript\x3e`, [String.raw`\u003cscript\x3e`, '<script>']],
		['full-width characters, as they are', '＜script＞', ['＜script＞', '<script>']],
		['full-width characters, as bytes', '%EF%BC%9Cscript', ['ï¼\u009cscript', '<script']],
		['a slash in two bytes', '..%c0%afetc', ['..à¯etc', '../etc']],
		['white space of all kinds', 'a%09%0a%0d  b', ['a b']],
		['a slash in three bytes', '..%e0%80%afetc', ['..à\u0080¯etc', '../etc']],
		['digits in circles', '%E2%91%A1', ['â\u0091¡', '2']],
		['percent signs three times', '%25253c', ['%253c', '<']],
		['a NUL in the middle of a name', 'etc/pass%00wd', ['etc/passwd']],
		['endings in brackets, which are no calls', 'Alert(s) sent, confirm(ed). Ok', ['alerts sent, confirmed. ok']],
		['calls with the name of an ending', 'eval(s)', ['eval(s)']],
		['calls behind other code', 's=1;eval(s) x', ['s=1;eval(s) x']],
		['percent signs that encode nothing', '100%zz %', ['100%zz %']],
	])('%s', (_what, written, expected) => {
		expect(plainOf(readHeaderValue(written))).toEqual(expected);
	});

	test('letters with accents do not become others', () => {
		expect(plainOf(readHeaderValue('Müller'))).toEqual(['müller']);
	});

	test('names and values of a query stand on lines of their own, and none can break out of its line', () => {
		expect(plainOf(readQuery('a=1=1&b=x+y%26c%0Ad&flag'))[0]).toBe('a\n1=1\nb\nx y&c d\nflag');
		expect(plainOf(readCookies('a=b=c; d; e=%0Af'))[0]).toBe('a\nb=c\n d\ne\n f');
	});

	test('a plus is a space in queries alone', () => {
		expect(plainOf(readPath('/a+b'))).toEqual(['/a+b']);
	});

	test('encoded line ends differ from spaces and from the ends of values', () => {
		expect(readQuery('a=X%0d%0aY%09z&b=1')[0]).toMatchObject({
			plain: 'a\nx y z\nb\n1',
			framed: 'a\nx\r\ry z\nb\n1',
			unquoted: 'a\nx\r\ry z\nb\n1',
		});
	});

	test('paths lose their doubled separators and steps in place', () => {
		expect(readPath('/a//b/./c\\d')[0]?.slashed).toBe('/a/b/c/d');
	});

	test('an address in a header field has values of its own, as strings of JSON and fields of forms in a body have', () => {
		expect(plainOf(readHeaderValue('https://x/y?a=b+c&d'))).toEqual(['https://x/y\na\nb c\nd']);
		expect(plainOf(readBodyText('a=b+c&d=%3C'))).toEqual(['a\nb c\nd\n<']);
		expect(plainOf(readBodyText('{"a":"\\u003cb\\"\\n"}'))[0]).toBe('a\n<b" \n{"a":"\\u003cb\\"\\n"}');
	});

	test('the other forms: without spaces, comments, quotes', () => {
		expect(readHeaderValue(`a /*x*/ "b'\\c" /*open`)[0]).toEqual({
			plain: `a /*x*/ "b'\\c" /*open`,
			packed: `a/*x*/"b'\\c"/*open`,
			uncommented: `a "b'\\c" /*open`,
			unquoted: 'a /*x*/ bc /*open',
			slashed: `a /*x*/ "b'/c" /*open`,
			framed: '',
			raw: `a /*x*/ "b'\\c" /*open`,
			signs: signsOf(`a /*x*/ "b'\\c" /*open`),
		});
	});
});

test('whatever comes in, two readings at most, no longer than what is scanned, and lines only where parts end', () => {
	const hostile = fc.oneof(
		fc.string({ unit: 'binary', maxLength: 300 }),
		fc.stringMatching(/^(?:%[0-9a-f]{2}|&#?x?[0-9a-z]{1,6};?|\\[ux][0-9a-f{}]{2,5}|[/*=&;+ ]){0,60}$/),
	);
	fc.assert(
		fc.property(hostile, (text) => {
			const oneLine = text.replaceAll('\n', '');
			for (const readings of [readHeaderValue(oneLine.replaceAll('?', '')), readPath(oneLine)]) {
				for (const { plain } of readings) expect(plain).not.toContain('\n');
			}
			for (const readings of [readHeaderValue(oneLine), readPath(oneLine), readQuery(oneLine), readBodyText(text)]) {
				expect(readings.length).toBeLessThanOrEqual(2);
				for (const { plain, packed, uncommented, unquoted, slashed, framed } of readings) {
					expect(plain).not.toMatch(/[\r\t\0]| {2}/);
					// JSON strings come on separate lines before the whole text.
					const maxLength = Math.max(...[plain, packed, uncommented, unquoted, slashed, framed].map((form) => form.length));
					expect(maxLength).toBeLessThanOrEqual(3 * text.length + 1);
				}
			}
		}),
	);
	expect(readHeaderValue('x'.repeat(100_000))[0]?.plain).toHaveLength(maxScannedLength);
});

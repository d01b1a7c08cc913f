import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { workedMs } from '../../../test/support/cpu-ms.ts';
import { Rejection } from '../../core/rejection.ts';
import { parseBody } from './parse-body.ts';
import { maxDepth, maxValues, scanMembers } from './scan-members.ts';
import { spliceBody } from './splice-body.ts';

const wanted = new Set(['model', 'stream', 'stream_options']);

function rejectionOf(action: () => unknown): Rejection | undefined {
	try {
		action();
	} catch (cause) {
		if (cause instanceof Rejection) return cause;
		throw cause;
	}
	return undefined;
}

const codeOf = (action: () => unknown): string => rejectionOf(action)?.code ?? 'accepted';

const deep = '['.repeat(100) + ']'.repeat(100);
const parse = (text: string | Buffer) => parseBody(Buffer.from(text), wanted);

/** Writes JSON with random whitespace and random escapes, so that bytes differ but the value does not. */
function writeLoosely(value: unknown, random: () => number): string {
	const gap = () => [' ', '\n', '\t', '\r', '', '', '', ''][Math.floor(random() * 8)] ?? '';
	const string = (text: string) =>
		`"${Array.from(text, (character) => (random() < 0.2 && character.length === 1 ? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}` : JSON.stringify(character).slice(1, -1))).join('')}"`;
	const write = (item: unknown): string => {
		if (Array.isArray(item)) return `[${gap()}${item.map(write).join(`${gap()},${gap()}`)}${gap()}]`;
		if (typeof item === 'string') return string(item);
		if (typeof item !== 'object' || item === null) return Object.is(item, -0) ? '-0' : JSON.stringify(item);
		return `{${gap()}${Object.entries(item)
			.map(([key, member]) => `${string(key)}${gap()}:${gap()}${write(member)}`)
			.join(`${gap()},${gap()}`)}${gap()}}`;
	};
	return gap() + write(value) + gap();
}

/** Once V8 has parsed a key with a backslash, it may take escaped quotes and controls for it; such keys prove nothing here. */
const withoutBackslash = (text: string) => text.replaceAll('\\', '');
const key = fc.oneof(
	fc.constantFrom('model', 'stream', 'stream_options', 'mode', 'models', '__proto__', '', '"', '\0'),
	fc.string({ unit: 'binary', maxLength: 60 }).map(withoutBackslash),
);
const body = fc
	.uniqueArray(
		fc.tuple(key, fc.jsonValue({ maxDepth: 4, stringUnit: fc.constantFrom('a', 'b', 'é', '漢', '😀', '"', '\n', '\u0001', '{', ',') })),
		{ selector: ([name]) => name.toWellFormed(), maxLength: 12 },
	)
	.map((entries) => Object.fromEntries(entries.map(([name, value]) => [name.toWellFormed(), value])));

describe('scanMembers', () => {
	it('finds the values that JSON.parse finds, and replaces one without other changes', () => {
		fc.assert(
			fc.property(
				body,
				fc.infiniteStream(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })),
				fc.string({ unit: 'binary' }),
				(value, numbers, name) => {
					const text = writeLoosely(value, () => Number(numbers.next().value));
					const expected = value as Record<string, unknown>;
					const read = parse(text);
					expect(read.members).toEqual(expected);
					for (const [member, { start, end }] of read.ranges) {
						expect(JSON.parse(read.bytes.toString('utf8', start, end))).toEqual(expected[member]);
					}
					for (const member of wanted) expect(read.ranges.has(member)).toBe(Object.hasOwn(expected, member));
					const range = read.ranges.get('model');
					if (range === undefined) return;
					const spliced = spliceBody(read.bytes, [{ ...range, text: JSON.stringify(name) }]);
					expect(parse(spliced).members).toEqual({ ...expected, model: name.toWellFormed() });
					expect(spliced.subarray(0, range.start)).toEqual(read.bytes.subarray(0, range.start));
					expect(spliced.subarray(spliced.length - (read.bytes.length - range.end))).toEqual(read.bytes.subarray(range.end));
				},
			),
			{ numRuns: 1000 },
		);
	});

	it('never throws anything but a `Rejection`, whatever the bytes', () => {
		const pieces = fc.constantFrom('{', '}', '[', ']', '"', '\\', ',', ':', 'model', ' ', '1', 'é', '\ufeff');
		fc.assert(
			fc.property(
				fc.oneof(
					fc.array(pieces).map((parts) => Buffer.from(parts.join(''))),
					fc.uint8Array().map((bytes) => Buffer.from(bytes)),
				),
				(bytes) => {
					codeOf(() => parseBody(bytes, wanted));
				},
			),
		);
	});

	it('skips strings of every length whose ends are hidden behind backslashes', () => {
		for (let length = 0; length < 130; length++) {
			for (const tail of ['', '\\\\', '\\"', '\\\\\\"', '\\\\\\\\']) {
				const text = `{"a":"${'x'.repeat(length)}${tail}","model":"m"}`;
				const { start, end } = parse(text).ranges.get('model') ?? { start: 0, end: 0 };
				expect(text.slice(start, end)).toBe('"m"');
			}
		}
	});

	it('finds a member by its name, however the name is written', () => {
		expect(parse('{"mod\\u0065l":"m"}').ranges.get('model')).toEqual({ start: 14, end: 17 });
		expect(parse('{"x":{"model":"inner"},"y":"\\"model\\":1"}').ranges.size).toBe(0);
	});

	it('rejects a member that occurs twice, however it is written, but only at the top level', () => {
		expect(codeOf(() => parse('{"model":"a","model":"b"}'))).toBe('field_invalid');
		expect(codeOf(() => parse('{"model":"a","mo\\u0064el":"b"}'))).toBe('field_invalid');
		expect(codeOf(() => parse('{"messages":[],"model":"a","messages":[1]}'))).toBe('field_invalid');
		expect(codeOf(() => parse('{"__proto__":1,"__proto__":2}'))).toBe('field_invalid');
		expect(codeOf(() => parse('{"__proto__":{"model":"x"}}'))).toBe('accepted');
		expect(codeOf(() => parse('{"x":{"a":1,"a":2}}'))).toBe('accepted');
	});

	it('does not confuse escaped keys after other texts', () => {
		for (let round = 0; round < 3; round++) {
			JSON.parse('{"model":1,"mo\\\\u0":2}');
			JSON.parse('{"a":{"role":1,"cont\\\\u":2}}');
		}
		expect(codeOf(() => parse('{"model":"cheap","mo\\u0064el":"dear"}'))).toBe('field_invalid');
		expect(parse('{"a":{"role":1,"cont\\u0065nt":2}}').members).toEqual({ a: { role: 1, content: 2 } });
	});

	it('accepts 64 levels and rejects 65', () => {
		const nested = (levels: number) => `{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;
		expect(codeOf(() => parse(nested(maxDepth)))).toBe('accepted');
		expect(codeOf(() => parse(nested(maxDepth + 1)))).toBe('body_too_deep');
	});

	it.each([
		[
			'the member, whatever is before it',
			`{"model":"m","n":{"x":1},"messages" : ${deep},"z":1}`,
			'messages',
			'`messages` is nested deeper than 64 levels',
		],
		['a member written with escapes', `{"t\\u006fols":${deep}}`, 'tools', '`tools` is nested'],
		['no member of a list', deep, undefined, 'The body is nested'],
		['no key of more than 128 bytes', `{"${'k'.repeat(200)}":${deep}}`, undefined, 'The body is nested'],
	])('names %s if a body is too deep', (_title, text, param, message) => {
		const rejection = rejectionOf(() => parse(text));
		expect([rejection?.code, rejection?.param]).toEqual(['body_too_deep', param]);
		expect(rejection?.message).toContain(message);
	});

	it('rejects 100,000 levels without delay', () => {
		const veryDeep = Buffer.from('['.repeat(100_000) + ']'.repeat(100_000));
		expect(workedMs(() => expect(codeOf(() => parse(veryDeep))).toBe('body_too_deep'))).toBeLessThan(50);
	});

	it('takes time in proportion to the length of a string of escapes', () => {
		const big = 32 * 1024 * 1024;
		for (const escape of ['\\"', '\\\\']) {
			const bytes = Buffer.from(`{"a":"${escape.repeat(big / 2)}"}`);
			expect(workedMs(() => expect(scanMembers(bytes, wanted).count).toBe(1))).toBeLessThan(2000);
		}
	});
});

describe('parseBody', () => {
	it.each([
		['nothing', '', 'body_not_json'],
		['a byte-order mark', '\ufeff{}', 'body_not_utf8'],
		['an overlong form', Buffer.from([0x7b, 0x22, 0xc0, 0xaf, 0x22, 0x3a, 0x31, 0x7d]), 'body_not_utf8'],
		['a surrogate in UTF-8', Buffer.from([0x7b, 0x22, 0xed, 0xa0, 0x80, 0x22, 0x3a, 0x31, 0x7d]), 'body_not_utf8'],
		['a cut character', Buffer.from([0x22, 0xe6, 0xbc]), 'body_not_utf8'],
		['an array', '[]', 'body_not_json'],
		['null', 'null', 'body_not_json'],
		['a string', '"{}"', 'body_not_json'],
		['a number with a leading zero', '{"a":01}', 'body_not_json'],
		['two objects', '{}{}', 'body_not_json'],
		['a trailing comma', '{"a":1,}', 'body_not_json'],
		['a lone surrogate as escape', '{"a":"\\ud800"}', 'accepted'],
		['a big integer', '{"a":123456789012345678901234567890}', 'accepted'],
	])('judges %s', (_name, bytes, code) => {
		expect(codeOf(() => parse(bytes))).toBe(code);
	});

	it('still reads valid bodies after invalid UTF-8', () => {
		expect(codeOf(() => parse(Buffer.from([0x22, 0xe6])))).toBe('body_not_utf8');
		expect(parse('{"a":"漢"}').members).toEqual({ a: '漢' });
	});

	it('reports the position of a mistake, without quoting the body', () => {
		expect(() => parse('{"secret": nope}')).toThrow(/not valid JSON/);
		expect(() => parse('{"secret": nope}')).not.toThrow(/secret/);
	});

	it('leaves every prototype unchanged', () => {
		const { members } = parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}');
		expect(members.polluted).toBeUndefined();
		expect(({} as Record<string, unknown>).polluted).toBeUndefined();
	});
});

describe('spliceBody', () => {
	it('applies edits in any order, insertions among them', () => {
		const bytes = Buffer.from('0123456789');
		expect(
			spliceBody(bytes, [
				{ start: 8, end: 9, text: 'é' },
				{ start: 0, end: 0, text: '<' },
				{ start: 2, end: 4, text: '' },
			]).toString(),
		).toBe('<014567é9');
	});
});

describe('bodies with a costly structure', () => {
	const listOf = (count: number) => `{"model":"m","x":[${'[],'.repeat(count / 2 - 2)}1]}`;

	it('are rejected by the number of their values, of whatever kind', () => {
		expect(codeOf(() => parse(listOf(maxValues)))).toBe('accepted');
		expect(codeOf(() => parse(listOf(maxValues + 10)))).toBe('body_too_large');
		expect(codeOf(() => parse(`{"model":"m","x":${'7'.repeat(1000)}}`))).toBe('accepted');
		expect(codeOf(() => parse(`{"model":"m","x":[0.${'7'.repeat(1001)}]}`))).toBe('body_too_large');
		expect(codeOf(() => parse(`{"model":"m","x":"${'7'.repeat(2000)}"}`))).toBe('accepted');
		expect(codeOf(() => parse(`{"model":"m","x":{${'"k":1,'.repeat(maxValues)}"k":1}}`))).toBe('body_too_large');
		expect(codeOf(() => parse(`{"model":"m"${',"k":1'.repeat(maxValues)}}`))).toBe('body_too_large');
		expect(codeOf(() => parse(`{"model":"m","x":{${'"\\n":'.repeat(maxValues + 1)}1}}`))).toBe('body_too_large');
	});

	it('accept a conversation of 100,000 messages', () => {
		const messages = Array.from({ length: 100_000 }, () => ({ role: 'user', content: 'a, b: [c]' }));
		expect(codeOf(() => parse(JSON.stringify({ model: 'm', messages })))).toBe('accepted');
	});

	it('colons after a long text do not cause it to be read again', () => {
		const bodies = [`{"x":"${'y'.repeat(1_000_000)}"${':'.repeat(1_000_000)}1}`, `{"x":1,"\\n"${':'.repeat(1_000_000)}1}`];
		for (const text of bodies) expect(workedMs(() => expect(codeOf(() => parse(text))).toBe('body_not_json'))).toBeLessThan(1000);
	});

	it('escaped keys by the hundred thousand keep their ranges', () => {
		const keys = Array.from({ length: 100_000 }, (_, index) => `"\\u0061\\/\\n${index}\\ud83d\\ude00\\ud800"`);
		const text = `{"model":"m","x":{${keys.map((name) => `${name}:"\\u0062"`).join()}},"z":"\\u0063"}`;
		const { members } = parse(text);
		const names = Object.keys(members.x as object);
		expect(names).toHaveLength(100_000);
		expect(names[99_999]).toBe('a/\n99999😀\ud800');
		expect(members.z).toBe('c');
	});
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Rejection } from '../../core/rejection.ts';
import { readBodyText } from './body-text.ts';
import { parseExactly } from './exact-json.ts';
import { parseBody } from './parse-body.ts';
import { scanMembers } from './scan-members.ts';

const long = 40_000;
const seed = 20261125;

const countLong = (body: Buffer): number => scanMembers(body, new Set()).longStrings.length;
const first = '\ue000';

/** Texts that a parser could mistake for something else, each short or long. */
const texts = fc
	.tuple(
		fc.constantFrom('a', 'é', '😀', '"', '\\', '\n', first, `${first}0`, `${first}1`, '\\ue000', '{"a":1}', ''),
		fc.constantFrom('', 'b', '界', '\u007f', '\u2028'),
		fc.constantFrom(0, 1, long),
	)
	.map(([start, end, times]) => start + 'x'.repeat(times) + end);

const values = fc.letrec((tie) => ({
	value: fc.oneof(
		{ depthSize: 'small' },
		texts,
		fc.integer(),
		fc.boolean(),
		fc.constant(null),
		fc.array(tie('value'), { maxLength: 4 }),
		fc.dictionary(fc.oneof(texts, fc.constantFrom('__proto__', 'a', 'b')), tie('value'), { maxKeys: 4 }),
	),
})).value;

/** The same JSON with some characters of its strings escaped, and members that occur twice. */
const spellings = fc.constantFrom(
	(json: string) => json,
	(json: string) => json.replaceAll(first, '\\ue000'),
	(json: string) => json.replaceAll(first, '\\uE000'),
	(json: string) => json.replaceAll('é', '\\u00e9'),
	(json: string) => json.replaceAll('"b":', '"a":'),
);

describe('the text of a body', () => {
	it(`says what JSON.parse says of the whole text (seed ${seed})`, () => {
		let cut = 0;
		fc.assert(
			fc.property(fc.dictionary(fc.constantFrom('a', 'b', '__proto__', 'messages'), values, { maxKeys: 4 }), spellings, (object, spell) => {
				const json = spell(JSON.stringify(object));
				const bytes = Buffer.from(json);
				const { longStrings } = scanMembers(bytes, new Set());
				cut += longStrings.length;
				const text = readBodyText(bytes, longStrings);
				expect(text.parse(JSON.parse)).toStrictEqual(JSON.parse(json));
				expect(text.isAscii).toBe(json.length === bytes.length);
			}),
			{ seed, numRuns: 3000 },
		);
		expect(cut, 'of long strings').toBeGreaterThan(300);
	});

	it('contains at most one long string without escapes for each in the body, and no key', () => {
		const text = 'x'.repeat(long);
		expect(countLong(Buffer.from(JSON.stringify({ a: text, b: [text], [text]: 1 })))).toBe(2);
		expect(countLong(Buffer.from(JSON.stringify({ a: `${text}\n` })))).toBe(0);
		expect(countLong(Buffer.from(`{"a":"${text}`))).toBe(0);
	});

	it.each([
		['is cut short', (text: string) => `{"a":"${text}",`],
		['has a line end in a long string', (text: string) => `{"a":"${text}\n"}`],
		['has two values in a row', (text: string) => `{"a":"${text}""${text}"}`],
		['has a long string before a colon', (text: string) => `{"a":"${text}":1}`],
	])('reports the position in the complete body of one that %s', (_title, write) => {
		const json = write('x'.repeat(long));
		let position = '';
		try {
			JSON.parse(json);
		} catch (cause) {
			position = / at position (\d+)/.exec(String(cause))?.[1] ?? '';
		}
		expect(position).not.toBe('');
		expect(() => parseBody(Buffer.from(json), new Set())).toThrow(`at character ${position}`);
	});

	it('takes no text in the body for its own mark, even if all marks occur', () => {
		const text = 'x'.repeat(long);
		const marks = Array.from({ length: 17 }, (_, index) => `${String.fromCharCode(0xe000 + index)}0`);
		for (let taken = 0; taken <= marks.length; taken++) {
			const object = { marks: marks.slice(0, taken), file: text };
			for (const json of [JSON.stringify(object), JSON.stringify(object).replace(/[\ue000-\ue010]/g, escapeOf)]) {
				expect(parseBody(Buffer.from(json), new Set()).members).toStrictEqual(object);
			}
		}
	});

	it('is rejected where a long string is not UTF-8', () => {
		const bytes = Buffer.from(`{"a":"${'x'.repeat(long)}é"}`);
		bytes[bytes.length - 4] = 0x80;
		expect(() => parseBody(bytes, new Set())).toThrow(Rejection);
	});

	it('keeps the digits of integers next to a long string', () => {
		const json = `{"seed":123456789012345678901,"file":"${'x'.repeat(long)}"}`;
		const body = parseBody(Buffer.from(json), new Set());
		expect(JSON.stringify(body.readExactly?.())).toBe(json);
		expect(JSON.stringify(parseExactly(json))).toBe(json);
	});
});

function escapeOf(character: string): string {
	return `\\u${character.charCodeAt(0).toString(16)}`;
}

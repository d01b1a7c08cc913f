import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { Rejection } from '../../core/rejection.ts';
import { parseBody } from './parse-body.ts';

interface SuiteCase {
	readonly file: string;
	/** `y`: JSON, `n`: not JSON, `i`: either. */
	readonly expect: 'y' | 'n' | 'i';
	readonly body?: string;
	/** Texts to repeat and join, in place of `body`. */
	readonly gen?: readonly (readonly [text: string, count: number])[];
}

const cases = readFileSync(new URL('../../../test/suites/json/cases.jsonl', import.meta.url), 'utf8')
	.trim()
	.split('\n')
	.map((line) => JSON.parse(line) as SuiteCase);

function bytesOf({ body = '', gen }: SuiteCase): Buffer {
	return gen === undefined ? Buffer.from(body, 'base64') : Buffer.from(gen.map(([text, count]) => text.repeat(count)).join(''));
}

function isAccepted(bytes: Buffer): boolean {
	try {
		parseBody(bytes, new Set(['model']));
		return true;
	} catch (cause) {
		if (cause instanceof Rejection) return false;
		throw cause;
	}
}

it('contains the complete JSONTestSuite', () => {
	expect(cases).toHaveLength(318);
});

it.each(cases.map((entry) => [entry.file, entry] as const))('judges %s as JSONTestSuite does', (_file, entry) => {
	const alone = bytesOf(entry);
	const asMember = Buffer.concat([Buffer.from('{"model":"m","x":'), alone, Buffer.from('}')]);
	const verdicts = [isAccepted(alone), isAccepted(asMember)];
	// Most of the suite's valid texts are not objects, and so not valid bodies.
	const expected = { y: [expect.any(Boolean), true], n: [false, false], i: [expect.any(Boolean), expect.any(Boolean)] };
	expect(verdicts).toEqual(expected[entry.expect]);
});

it('integers beyond the precision of a double can be read with their digits, and all else stays unchanged', () => {
	const text =
		'{"a":12345678901234567890,"b":[-9007199254740993, 0.12345678901234567, 1e30],"c":"12345678901234567890","__proto__":{"d":1234567890123456789}}';
	const body = parseBody(Buffer.from(text), new Set());
	expect(JSON.stringify(body.readExactly?.())).toBe(
		'{"a":12345678901234567890,"b":[-9007199254740993,0.12345678901234566,1e30],"c":"12345678901234567890","__proto__":{"d":1234567890123456789}}',
	);
	expect(parseBody(Buffer.from('{"a":123456789012345,"b":"1234567890123456","c":1.5}'), new Set()).readExactly).toBeUndefined();
});

it.each([
	['{"a":"plain, and \\u00e9 escaped"}', true],
	['{"a":"é"}', false],
	['{"a":"漢"}', false],
	['{"é":"😀"}', false],
])('reports of %s whether it is ASCII: %s', (text, isAscii) => {
	expect(parseBody(Buffer.from(text), new Set()).isAscii).toBe(isAscii);
});

it.each([
	['{"stream":true,"n":1,"stream":false}', 'stream'],
	['{"n":1,"str\\u0065am":true,"stream":false}', 'stream'],
	['{"model":"a","model":"b"}', 'model'],
])('a duplicate member is named: %s', (text, name) => {
	expect(() => parseBody(Buffer.from(text), new Set(['model']))).toThrow(expect.objectContaining({ code: 'field_invalid', param: name }));
});

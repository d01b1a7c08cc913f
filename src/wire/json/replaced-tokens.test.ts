import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { replacedTokens } from '../text-edits.ts';
import { spliceBody } from './splice-body.ts';

function replace(raw: string, changed: (written: string) => string): string | undefined {
	const bytes = Buffer.from(`é${raw}é`);
	const written = JSON.stringify(JSON.parse(raw));
	const edits = replacedTokens(bytes, { start: 2, end: bytes.length - 2 }, written, changed(written));
	return edits && spliceBody(bytes, edits).toString().slice(1, -1);
}

describe('replacedTokens', () => {
	it.each([
		[
			'{ "to" : "jane@x.org",\n "n":12345678901234567890, "e": 1.50 }',
			'jane@x.org',
			'{ "to" : "[EMAIL]",\n "n":12345678901234567890, "e": 1.50 }',
		],
		['{"ü\\u0041":"a\\/b jane@x.org \\"c\\" 漢"}', 'jane@x.org', '{"ü\\u0041":"a/b [EMAIL] \\"c\\" 漢"}'],
		['[ "jane@x.org" , {"jane@x.org":1} ]', 'jane@x.org', '[ "[EMAIL]" , {"[EMAIL]":1} ]'],
	])('in %j changes the one string', (raw, secret, expected) => {
		expect(replace(raw, (written) => written.replaceAll(secret, '[EMAIL]'))).toBe(expected);
	});

	it('puts a string in place of a number', () => {
		expect(replace('{"a": 4111111111111111, "b": 2}', (written) => written.replace('4111111111111111', '"[CARD]"'))).toBe(
			'{"a": "[CARD]", "b": 2}',
		);
	});

	it.each(['{"a":1,"a":2}', '{"b":1,"1":2}'])('gives up on %s, which is written differently', (raw) => {
		expect(replace(raw, (written) => written.replace('2', '"[X]"'))).toBeUndefined();
	});

	it('changes no byte of equal values, whatever the JSON', () => {
		fc.assert(
			fc.property(fc.json(), fc.nat(3), (json, indent) => {
				const raw = JSON.stringify(JSON.parse(json), null, indent);
				expect(replace(raw, (written) => written) ?? raw).toBe(raw);
			}),
		);
	});
});

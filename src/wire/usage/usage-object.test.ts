import fc from 'fast-check';
import { expect, test } from 'vitest';
import { KeyScan, WantedKeys } from './key-scan.ts';

const wanted = new WantedKeys(['a', 'usage']);

function isWholeObject(bytes: Buffer): boolean {
	const scan = new KeyScan(wanted);
	// Other bytes surround it.
	const around = Buffer.concat([Buffer.from('{"x'), bytes, Buffer.from('}]"')]);
	scan.start(around, 3, 3 + bytes.length);
	while (scan.next());
	return scan.isWholeObject();
}

const object = fc.dictionary(fc.string(), fc.jsonValue());

test('every object is complete, however it is written', () => {
	fc.assert(
		fc.property(object, fc.constantFrom(0, 1, '\t'), fc.constantFrom('', ' ', '\r\n'), (value, indent, around) => {
			expect(isWholeObject(Buffer.from(around + JSON.stringify(value, null, indent) + around))).toBe(true);
		}),
	);
});

test('no object is complete when its end is missing, wherever it was cut', () => {
	fc.assert(
		fc.property(object, fc.nat(), (value, cut) => {
			const bytes = Buffer.from(JSON.stringify(value));
			expect(isWholeObject(bytes.subarray(0, cut % bytes.length))).toBe(false);
		}),
	);
});

test.each(['', ' ', 'null', '[]', '[{}]', '"{}"', '<!doctype html>{}', '{}{}', '{} x', '{"a":"}', '{"a":"\\"}', '{"a":1]', '\ufeff{}'])(
	'%j is not a complete object',
	(text) => {
		expect(isWholeObject(Buffer.from(text))).toBe(false);
	},
);

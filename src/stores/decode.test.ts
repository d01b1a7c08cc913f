import fc from 'fast-check';
import { expect, test } from 'vitest';
import { byName, decodeJson, listOf, membersFrom, numberFrom, oneOf, orNull, textFrom } from './decode.ts';

test('what was written as JSON comes back as it was', () => {
	fc.assert(
		fc.property(fc.dictionary(fc.string(), fc.array(fc.option(fc.string()))), (written) => {
			expect(decodeJson(JSON.stringify(written), byName(listOf(orNull(textFrom))))).toEqual(written);
		}),
	);
});

test('a value of another shape is an error that does not show it', () => {
	expect(() => textFrom(42)).toThrow('Expected a string, found a value of type number');
	expect(() => numberFrom('secret')).toThrow(/^Expected a number, found a value of type string$/);
	expect(() => listOf(textFrom)({ length: 0 })).toThrow('Expected a list, found a value of type object');
	expect(() => listOf(textFrom)(['a', null])).toThrow('Expected a string, found null');
	expect(() => membersFrom([])).toThrow('Expected an object, found a list');
	expect(() => oneOf(['create', 'delete'])('replace')).toThrow('Expected one of create, delete');
	expect(() => decodeJson('{', textFrom)).toThrow(SyntaxError);
});

test('a member named __proto__ is a member', () => {
	expect(Object.hasOwn(decodeJson('{"__proto__":"x"}', byName(textFrom)), '__proto__')).toBe(true);
});

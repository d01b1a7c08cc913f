import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { attributesText, maxAttributes, readAttributes } from './attributes.ts';
import { Rejection } from './rejection.ts';

const name = fc.stringMatching(/^[a-z][a-z0-9_]{0,31}$/);
const value = fc.stringMatching(/^[!-+\x2d-~]{1,128}$/);
const attributes = fc.dictionary(name, value, { minKeys: 1, maxKeys: maxAttributes });

function messageOf(text: string, ofToken?: Record<string, string>): string {
	try {
		readAttributes(text, ofToken);
	} catch (cause) {
		if (cause instanceof Rejection && cause.code === 'field_invalid' && cause.param === 'x-gateway-attributes') return cause.message;
		throw cause;
	}
	return 'accepted';
}

describe('the header field', () => {
	it('is a list of names and values, in any order and with spaces around the commas', () => {
		fc.assert(
			fc.property(attributes, fc.constantFrom(',', ', ', ' ,\t'), (some, separator) => {
				const text = Object.entries(some)
					.map(([one, text_]) => `${one}=${text_}`)
					.join(separator);
				expect(readAttributes(text, undefined)).toEqual(some);
			}),
		);
		expect(readAttributes('project=a=b', undefined)).toEqual({ project: 'a=b' });
	});

	it.each([
		['', 'has no `name=value` in place 1, but ""'],
		['project=a,', 'has no `name=value` in place 2, but ""'],
		['project', 'has no `name=value` in place 1, but "project"'],
		['=a', 'has the name "": a name is 1 to 32'],
		['Project=a', 'has the name "Project": a name is 1 to 32'],
		['1a=a', 'has the name "1a"'],
		['__proto__=a', 'has the name "__proto__"'],
		[`${'a'.repeat(33)}=a`, `has the name "${'a'.repeat(33)}"`],
		['project =a', 'has the name "project "'],
		['project=', 'has the value "" for `project`: a value is 1 to 128 visible ASCII characters'],
		['project= a', 'has the value " a"'],
		['project=a b', 'has the value "a b"'],
		['project=\u00e9', 'has the value "\u00e9"'],
		[`project=${'x'.repeat(129)}`, `has the value "${'x'.repeat(64)}"`],
		['project=a,project=a', 'names `project` twice'],
		['a=1,b=2,c=3,d=4,e=5,f=6,g=7,h=8,i=9', 'makes 9 attributes: send at most 8 altogether'],
	])('%j is rejected', (text, message) => {
		expect(messageOf(text)).toContain(message);
	});

	it('yields to the access token', () => {
		expect(readAttributes('project=mine,user=42', { project: 'search' })).toEqual({ project: 'search', user: '42' });
		expect(messageOf('a=1,b=2,c=3,d=4,e=5,f=6,g=7,h=8', { project: 'search' })).toContain('makes 9 attributes, 1 of them from claims');
		expect(Object.keys(readAttributes('a=1,b=2,c=3,d=4,e=5,f=6,g=7,h=8', { h: 'x' }))).toHaveLength(8);
	});
});

describe('the text of attributes', () => {
	it('is the same for the same attributes, and JSON that is shorter than an entry allows', () => {
		fc.assert(
			fc.property(attributes, (some) => {
				const text = attributesText(some);
				expect(attributesText(Object.fromEntries(Object.entries(some).toReversed()))).toBe(text);
				expect(JSON.parse(text)).toEqual(some);
				expect(text.length).toBeLessThan(4096);
			}),
		);
		expect(attributesText({ user: '42', project: 'a"\\' })).toBe('{"project":"a\\"\\\\","user":"42"}');
		expect(attributesText({})).toBe('');
	});
});

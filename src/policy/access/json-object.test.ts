import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readJsonObject, repeatsMember } from './json-object.ts';

const read = (text: string): unknown => readJsonObject(Buffer.from(text));

test.each(['{}', '{"a":1}', ' {"a" : {"a":[{"a":1},{"a":2}]}, "b":"{\\"a\\":1,\\"a\\":2}"} ', '{"a":"\\\\","b":1}', '{"":1," ":2}'])(
	'%s is read',
	(text) => {
		expect(read(text)).toEqual(JSON.parse(text));
	},
);

test.each([
	'',
	'null',
	'[]',
	'"a"',
	'1',
	'{',
	'{"a":1}x',
	'\ufeff{}',
	'{"a":1,"a":1}',
	'{"b":{"a":1,"a":2}}',
	'{"a":1,"\\u0061":1}',
	'{"é":1,"\\u00e9":1}',
])('%s is not', (text) => {
	expect(read(text)).toBeUndefined();
});

test('invalid UTF-8 is not read', () => {
	expect(readJsonObject(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]))).toBeUndefined();
});

/** JSON that keeps every member's name, including duplicates. */
type Node = string | readonly Node[] | { readonly members: readonly (readonly [string, Node])[] };

const { node } = fc.letrec<{ node: Node }>((tie) => ({
	node: fc.oneof(
		{ depthSize: 'small', withCrossShrink: true },
		fc.string({ unit: 'binary' }),
		fc.array(tie('node'), { maxLength: 3 }),
		fc.record({ members: fc.array(fc.tuple(fc.constantFrom('a', 'b', '"', '\\', ':', '{', 'é', ''), tie('node')), { maxLength: 4 }) }),
	),
}));

function write(value: Node): string {
	if (typeof value === 'string') return JSON.stringify(value);
	if ('members' in value) return `{${value.members.map(([name, member]) => `${JSON.stringify(name)} : ${write(member)}`).join(',')}}`;
	return `[${value.map(write).join(',')}]`;
}

function hasRepetition(value: Node): boolean {
	if (typeof value === 'string') return false;
	if (!('members' in value)) return value.some(hasRepetition);
	return (
		new Set(value.members.map(([name]) => name)).size < value.members.length || value.members.some(([, member]) => hasRepetition(member))
	);
}

test('a repeated member is found wherever it is, and only then', () => {
	fc.assert(
		fc.property(node, (value) => repeatsMember(write(value)) === hasRepetition(value)),
		{ numRuns: 500 },
	);
});

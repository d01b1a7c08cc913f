import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runSynchronously } from '../../core/cooperative-task.ts';
import type { JsonObject } from './parse-body.ts';
import { repeatedMemberSteps, repeatsMember } from './repeated-member.ts';

const find = (json: string): string | undefined => runSynchronously(repeatedMemberSteps(Buffer.from(json)));

test.each([
	['{"a":1,"a":2}', 'a'],
	['{"b":[{"a":1},{"a":1, "a" :2}]}', 'b[1].a'],
	['{"b":{"x":"}","c":[[0,{"é":1,"\\u00e9":2}]]}}', 'b.c[0][1].é'],
	['{"a":{"a":[{"a":1},{"a":2}]},"b":"{\\"a\\":1,\\"a\\":2}","c":["a","a",":"]}', undefined],
	['{"":1," ":2,"\\\\":"\\\\","\\"":3}', undefined],
	['{}', undefined],
])('%s', (json, path) => {
	expect(find(json)).toBe(path);
	expect(repeatsMember(json, JSON.parse(json) as JsonObject)).toBe(path !== undefined);
});

test('a duplicate member is found wherever it is, and only then', () => {
	type Node = string | readonly Node[] | { readonly members: readonly (readonly [string, Node])[] };
	const name = fc.constantFrom('a', 'b', '"', '\\', ':', '{', 'é', '', 'a\u0000');
	const { node } = fc.letrec<{ node: Node }>((tie) => ({
		node: fc.oneof(
			{ depthSize: 'small', withCrossShrink: true },
			fc.string({ unit: 'binary' }),
			fc.array(tie('node'), { maxLength: 3 }),
			fc.record({ members: fc.array(fc.tuple(name, tie('node')), { maxLength: 4 }) }),
		),
	}));
	const write = (value: Node): string => {
		if (typeof value === 'string') return JSON.stringify(value);
		if ('members' in value) return `{${value.members.map(([key, member]) => `${JSON.stringify(key)} : ${write(member)}`).join(',')}}`;
		return `[${value.map(write).join(' , ')}]`;
	};
	const repeats = (value: Node): boolean => {
		if (typeof value === 'string') return false;
		if (!('members' in value)) return value.some(repeats);
		return new Set(value.members.map(([key]) => key)).size < value.members.length || value.members.some(([, member]) => repeats(member));
	};
	fc.assert(
		fc.property(node, (value) => (find(write(value)) !== undefined) === repeats(value)),
		{ numRuns: 500 },
	);
});

test.each([
	['names', JSON.stringify({ list: Array.from({ length: 50_000 }, (_, index) => ({ index })) }), 5],
	['bytes', JSON.stringify({ list: Array.from({ length: 500_000 }, () => 123_456) }), 3],
])('many %s are checked in several steps', (_name, json, expected) => {
	let steps = 0;
	for (const work = repeatedMemberSteps(Buffer.from(json)); work.next().done !== true; ) steps++;
	expect(steps).toBe(expected);
});

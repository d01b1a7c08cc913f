import { spawnSync } from 'node:child_process';
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readMutants } from '../../scripts/mutants.ts';
import { temporaryDirectory } from '../support/processes.ts';

const root = join(import.meta.dirname, '../..');

/** Returns the mutants of `source`, each as the source with that mutant alone. */
function mutate(source: string): string[] {
	const { mutants, instrument } = readMutants(source);
	return mutants.map(({ original, replacement }, index) =>
		instrument((one) => one === index, 0).replace(
			`(globalThis.tollgateMutants?.is(${index}) ? (${replacement}) : (${original}))`,
			`<${replacement}>`,
		),
	);
}

test('operators, conditions, constants, returned values and calls are mutated, each at its position', () => {
	expect(mutate('f(a < 1n);')).toEqual(['<undefined>;', 'f(<a <= 1n>);', 'f(<a >= 1n>);', 'f(a < <1n + 1n>);']);
	expect(mutate('if (!é) i++;')).toEqual(['if (<é>) i++;', 'if (<true>) i++;', 'if (<false>) i++;', 'if (!é) <i-->;']);
	expect(mutate('const f = (x: 1 | "a") => x as 2;')).toEqual(['const f = (x: 1 | "a") => <undefined>;']);
	expect(mutate(`const { a = true } = { 'b-c': '' };`)).toEqual([`const { a = true } = { 'b-c': <'mutant'> };`]);
	expect(mutate('a ??= (b + c) * d;')).toEqual(['a ??= <(b + c) / d>;', 'a ??= (<b - c>) * d;']);
	expect(mutate(`import x from 'y' with { type: 'json' }; export { z } from './z.ts'; type T = 'a';`)).toEqual([]);
});

test('mutants in each other are asked for from outside in', () => {
	const { instrument } = readMutants('return_(a && b > 1);');
	expect(instrument((index) => index > 0, 10)).toBe(
		'return_((globalThis.tollgateMutants?.is(11) ? (a || (b > 1)) : ' +
			'(a && (globalThis.tollgateMutants?.is(12) ? (b >= 1) : globalThis.tollgateMutants?.is(13) ? (b <= 1) : ' +
			'(b > (globalThis.tollgateMutants?.is(14) ? (1 + 1) : (1)))))));',
	);
});

const limitSource = `export function isBelow(used: number, limit: number): boolean {
	return used < limit;
}
export function sum(values: readonly number[]): number {
	let total = 0;
	for (let index = 0; index < values.length; index++) total += values[index] ?? 0;
	return total;
}
export const name = (): string => ['limit'].join();
`;

test('a weak test lets mutants survive, which are named with their positions; an endless loop is detected by its time', () => {
	const directory = temporaryDirectory();
	symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'));
	writeFileSync(join(directory, 'limit.ts'), limitSource);
	const weakTest = `
		import { expect, test } from 'vitest';
		import { isBelow, sum } from './limit.ts';
		test('works', () => {`;
	// Failures in one test file do not affect the other.
	writeFileSync(join(directory, 'limit.test.ts'), `${weakTest} expect([isBelow(1, 3), isBelow(4, 3)]).toEqual([true, false]); });`);
	writeFileSync(join(directory, 'sum.test.ts'), `${weakTest} expect(sum([1, 2])).toBe(3); });`);
	const script = [join(root, 'scripts/test-mutants.ts'), '--root', directory, '--seconds', '20', '--engines', '1', 'limit.ts'];
	const { stdout } = spawnSync(process.execPath, script, { encoding: 'utf8' });
	const lines = stdout.trim().split('\n');
	expect(lines.slice(0, -1)).toEqual([
		'2 files of tests, 15 mutants',
		'survived limit.ts:2:9  used < limit  ->  used <= limit',
		'survived limit.ts:6:22  index < values.length  ->  index <= values.length',
		'unreached limit.ts:6:80  0  ->  0 + 1',
		`unreached limit.ts:9:35  ['limit'].join()  ->  undefined`,
		`unreached limit.ts:9:36  'limit'  ->  ''`,
	]);
	expect(lines.at(-1)).toMatch(
		/^score 66\.7 %: 10 of 15 mutants noticed \(1 by the time they took\), 5 survived \(3 reached by no test\), seed 1, /,
	);
});

/** Tests all policies together on texts that are designed to cost time. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const units = [
	'a',
	'a ',
	'(((',
	'4111 ',
	'1',
	'1-',
	'@',
	'a@',
	'&#9',
	'.',
	'il1 ',
	'\u200B',
	'call 1 2 3 4 5 6 7 ',
	'4|',
	'4111_',
	'%34',
	'a(at)b(dot)',
	'{"a":[',
	'X😀',
	'<b>a',
	'<b',
	'<!--',
	'\u202ea',
	'data:image/svg+xml,a',
	'%2525',
	'&amp;',
];
const program = join(import.meta.dirname, '../../../test/support/hostile-slices.ts');
const printed = execFileSync(process.execPath, [program, JSON.stringify(units)], { encoding: 'utf8' });
const measured = JSON.parse(printed) as { moreSlices: number; maxMs: number }[];

it.each(units.map((unit, index) => [unit, measured[index]] as const))(
	'100 KB of %j are read in slices that hold the event loop for less than 10 ms',
	(_unit, slices) => {
		expect(slices?.moreSlices).toBeGreaterThanOrEqual(0);
		expect(slices?.maxMs).toBeLessThan(10);
	},
);

import { expect, test } from 'vitest';
import { lowerThreadPriority, type PriorityPorts } from './thread-priority.ts';

function lowered(niceness: number, ports: Partial<PriorityPorts> = {}): number[] {
	const set: number[] = [];
	lowerThreadPriority(5, { platform: 'linux', get: () => niceness, set: (next) => set.push(next), ...ports });
	return set;
}

test.each([
	[0, [5]],
	[-10, [-5]],
	[10, [15]],
	[17, [19]],
	[19, []],
])('niceness %i is only ever lowered', (niceness, expected) => {
	expect(lowered(niceness)).toEqual(expected);
});

test('other systems have no niceness for each thread', () => {
	expect(lowered(0, { platform: 'darwin' })).toEqual([]);
});

test('a system that forbids it changes nothing', () => {
	const fail = (): never => {
		throw Object.assign(new Error('EPERM'), { code: 'ERR_SYSTEM_ERROR' });
	};
	expect(lowered(0, { get: fail })).toEqual([]);
	expect(lowered(0, { set: fail })).toEqual([]);
});

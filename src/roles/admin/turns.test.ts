import { expect, test } from 'vitest';
import { createLoopTurns, createTurns } from './turns.ts';

test('tasks run one after another, also past one that failed', async () => {
	const takeTurn = createTurns();
	const done: string[] = [];
	const task = (name: string) => async () => {
		done.push(`${name} begins`);
		await new Promise((resolve) => setImmediate(resolve));
		done.push(`${name} ends`);
		if (name === 'first') throw new Error('it failed');
	};
	const first = takeTurn(task('first'));
	const second = takeTurn(task('second'));
	await expect(first).rejects.toThrow('it failed');
	await second;
	expect(done).toEqual(['first begins', 'first ends', 'second begins', 'second ends']);
});

test('reads of a crowd begin in turns of the event loop, in order, and leave room for others in each', async () => {
	const takeLoopTurn = createLoopTurns();
	const seen: (number | 'other')[] = [];
	const other = (): void => {
		seen.push('other');
		if (seen.length < 12) setImmediate(other);
	};
	setImmediate(other);
	await Promise.all([1, 2, 3, 4, 5].map((number) => takeLoopTurn().then(() => seen.push(number))));
	expect(seen.filter((one) => one !== 'other')).toEqual([1, 2, 3, 4, 5]);
	// No two without another's turn between them.
	expect(seen.some((one, index) => one !== 'other' && index > 0 && seen[index - 1] !== 'other')).toBe(false);
	await Promise.race([takeLoopTurn(), new Promise((_, reject) => setTimeout(reject, 1000))]);
});

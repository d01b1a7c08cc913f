import { expect, test } from 'vitest';
import { createKeyedMutex } from './admin-deps.ts';

test('tasks run one after another, also past one that failed', async () => {
	const runExclusive = createKeyedMutex();
	const done: string[] = [];
	const task = (name: string) => async () => {
		done.push(`${name} begins`);
		await new Promise((resolve) => setImmediate(resolve));
		done.push(`${name} ends`);
		if (name === 'first') throw new Error('it failed');
	};
	const first = runExclusive(task('first'));
	const second = runExclusive(task('second'));
	await expect(first).rejects.toThrow('it failed');
	await second;
	expect(done).toEqual(['first begins', 'first ends', 'second begins', 'second ends']);
});

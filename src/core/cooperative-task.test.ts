import { expect, test } from 'vitest';
import { yieldToEventLoop } from './cooperative-task.ts';

test('many tasks resume one per tick of the event loop, in order, and other work runs in each tick', async () => {
	const seen: (number | 'other')[] = [];
	const other = (): void => {
		seen.push('other');
		if (seen.length < 12) setImmediate(other);
	};
	setImmediate(other);
	await Promise.all([1, 2, 3, 4, 5].map((number) => yieldToEventLoop().then(() => seen.push(number))));
	expect(seen.filter((one) => one !== 'other')).toEqual([1, 2, 3, 4, 5]);
	// Two steps never run without another task between them.
	expect(seen.some((one, index) => one !== 'other' && index > 0 && seen[index - 1] !== 'other')).toBe(false);
	await Promise.race([yieldToEventLoop(), new Promise((_, reject) => setTimeout(reject, 1000))]);
});

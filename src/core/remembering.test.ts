import { expect, test } from 'vitest';
import { remembering } from './remembering.ts';

test('asks once for each key, nothing found included, until it is forgotten', () => {
	const asked: string[] = [];
	const lengthOf = remembering(16, (key) => {
		asked.push(key);
		return key === '' ? undefined : key.length;
	});
	expect(['a', 'bc', 'a', '', ''].map(lengthOf)).toEqual([1, 2, 1, undefined, undefined]);
	expect(asked).toEqual(['a', 'bc', '']);
	for (let index = 0; index < 16; index++) lengthOf(`${index}`);
	expect(lengthOf('a')).toBe(1);
	expect(asked.filter((key) => key === 'a')).toHaveLength(2);
});

import { expect, it } from 'vitest';
import { ByModel } from './by-model.ts';

it('finds the exact name, otherwise one that differs only in spelling', () => {
	const found = new ByModel([
		['Prod', 1],
		['models/gemini-2.5-flash', 2],
		['Qwen', 3],
		['qwen', 4],
	]);
	expect(
		['Prod', 'PROD', 'gemini-2.5-flash', 'Qwen', 'qwen', 'QWEN', 'prod-2', 'models/', 'constructor'].map((name) => found.find(name)),
	).toEqual([1, 1, 2, 3, 4, 4, undefined, undefined, undefined]);
	expect([found.size, new ByModel([]).size]).toEqual([4, 0]);
});

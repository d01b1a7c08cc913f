import { expect, test } from 'vitest';
import { TypicalRequests } from './typical-requests.ts';

test('estimates a request by its input and the output of recent similar ones, never above its limit', () => {
	const typical = new TypicalRequests().of('red', 'gpt-5');
	expect([typical.estimateTokens(10, 1, 4096), typical.estimateTokens(10, 1, 100), typical.estimateTokens(10, 3, 4096)]).toEqual([
		266, 110, 778,
	]);
	for (let request = 0; request < 100; request++) typical.note(2000, 60_000);
	expect(typical.estimateTokens(10, 1, 64_000)).toBe(2010);
	expect(typical.durationMs).toBeCloseTo(60_000, 0);
});

test('keeps separate averages for each team and model', () => {
	const all = new TypicalRequests();
	all.of('red', 'gpt-5').note(2000, 1);
	expect(all.of('red', 'gpt-5').outputTokens).toBe(474);
	expect(['red gpt-4', 'blue gpt-5'].map((name) => all.of(...(name.split(' ') as [string, string])).outputTokens)).toEqual([256, 256]);
});

test('corrects counted tokens by reported usage, within bounds, and not by short streams', () => {
	const typical = new TypicalRequests().of('red', 'gpt-5');
	const reported = (outputTokens: number, countedTokens: number): void =>
		typical.noteCounted({ usage: { outputTokens, reasoningTokens: 0 }, countedTokens });
	for (let index = 0; index < 100; index++) reported(120, 100);
	expect(typical.tokensPerCounted).toBeCloseTo(1.2, 3);
	reported(1000, 31);
	typical.noteCounted({ usage: { outputTokens: 1000, reasoningTokens: 0 } });
	expect(typical.tokensPerCounted).toBeCloseTo(1.2, 3);
	for (let index = 0; index < 100; index++) reported(100_000, 100);
	expect(typical.tokensPerCounted).toBeCloseTo(2, 3);
	for (let index = 0; index < 100; index++) reported(1, 100);
	expect(typical.tokensPerCounted).toBeCloseTo(0.9, 3);
	for (let index = 0; index < 100; index++) typical.noteCounted({ usage: { outputTokens: 600, reasoningTokens: 500 }, countedTokens: 100 });
	expect(typical.tokensPerCounted).toBeCloseTo(1, 3);
});

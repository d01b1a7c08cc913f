import { expect, test } from 'vitest';
import { compare } from './replay-equals-enforcement.contract.ts';

test('a replay of 20,000 requests decides every one of them like the gateway', async () => {
	const { result, requests, differences } = await compare(20_000, 42);
	expect([requests, differences]).toEqual([20_000, []]);
	process.stdout.write(`${JSON.stringify({ ...result, teams: undefined, examples: undefined })}\n`);
});

import { expect, test } from 'vitest';
import { traceSettings } from '../../../../test/support/policy-trace.ts';
import { compare, policyB } from './replay-equals-enforcement.contract.ts';

const codes = [
	'budget_exceeded',
	'client_unregistered',
	'concurrency_limit_exceeded',
	'daily_token_limit_exceeded',
	'model_budget_exceeded',
	'model_not_allowed',
	'rpm_limit_exceeded',
	'tpm_limit_exceeded',
];

test.each([1, 2, 3])('a replay of trace %i decides like the gateway, and every kind of decision occurs', async (seed) => {
	const { result, differences } = await compare(1500, seed);
	expect(differences).toEqual([]);
	expect(Object.keys(result.rejected_by_code)).toEqual(expect.arrayContaining(codes));
	expect(result.admitted).toBeGreaterThan(0);
	expect(result.rerouted).toBeGreaterThan(0);
});

test('a replay reserves the worst case, and caps outputs, like the gateway', async () => {
	const budgets = { ...traceSettings.budgets, reservation: 'worst_case' as const };
	const { result, differences } = await compare(800, 4, { budgets });
	expect(differences).toEqual([]);
	expect(result.capped).toBeGreaterThan(0);
});

test('a replay of a limit that differs by one decides differently', async () => {
	const { differences } = await compare(300, 2, {}, policyB(4), policyB(5));
	expect(differences.length).toBeGreaterThan(0);
});

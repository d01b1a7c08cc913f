import { expect, test } from 'vitest';
import { rateLimits } from '../../../test/support/rate-limits.ts';
import { type BudgetPolicy, plainBudget } from '../../core/budget.ts';
import type { Team } from '../../core/team.ts';
import { TermsResolver } from './terms-resolver.ts';

const usd = 1_000_000_000n;
const nowMs = Date.UTC(2026, 10, 26);
const tiers = {
	sandbox: { requestsPerMinute: 10, dailyTokens: 1000, monthlyBudgetUsd: '5' },
	enterprise: { requestsPerMinute: null, dailyTokens: 50_000, monthlyBudgetUsd: '100' },
	free: { requestsPerMinute: 1, dailyTokens: 1, monthlyBudgetUsd: null },
};
const defaults = { isEnabled: true, warningThresholdPercent: 80, hardLimitPercent: 90 };
const book = new TermsResolver(tiers, defaults);
const team = (change: Partial<Team>): Team => ({ id: 'red', name: 'Red', tier: 'enterprise', clientIds: [], ...change });
const ofTier = {
	id: 'tier-enterprise',
	budget: 'all',
	period: '2026-11',
	model: null,
	client: null,
	provider: null,
	attribute: null,
	window: 'month',
	isEnforced: true,
	report: 'nothing',
	fallbackModel: null,
	ledgerName: 'all',
	limitNanoUsd: 90n * usd,
	budgetNanoUsd: 100n * usd,
	warningThresholdPercent: 80,
};
const own = (model: string | null): BudgetPolicy => ({
	...plainBudget,
	id: 'own',
	model,
	limitNanoUsd: 10n * usd,
	warningThresholdPercent: 50,
	hardLimitPercent: 70,
});

test('a team has the limits of its tier, or limits of its own in place of the tier’s', () => {
	expect(book.termsOf(team({}), [], nowMs)).toEqual({
		tier: 'enterprise',
		limits: rateLimits({ dailyTokens: 50_000 }),
		monitored: [],
		budgets: [ofTier],
	});
	const limits = { requestsPerMinute: 7, dailyTokens: null };
	expect(book.termsOf(team({ limits }), [], nowMs)).toMatchObject({ limits: rateLimits({ requestsPerMinute: 7 }) });
	expect(book.termsOf(team({ tier: 'free' }), [], nowMs).budgets).toEqual([]);
});

test('a team whose tier is not configured has the limits of the sandbox', () => {
	const { tier, limits, budgets } = book.termsOf(team({ tier: 'gone' }), [], nowMs);
	expect([tier, limits[0], budgets.map(({ id }) => id)]).toEqual(['gone', { kind: 'rpm', limit: 10 }, ['tier-sandbox']]);
	expect(() => new TermsResolver({}, defaults).termsOf(team({}), [], nowMs)).toThrow('there is no tier `enterprise`');
});

test('a budget of all models replaces the tier’s, one of a model is additional', () => {
	const budgetsOf = (budgets: readonly BudgetPolicy[]) => book.termsOf(team({}), budgets, nowMs).budgets;
	const terms = { ...ofTier, id: 'own', limitNanoUsd: 7n * usd, budgetNanoUsd: 10n * usd, warningThresholdPercent: 50 };
	expect(budgetsOf([own(null)])).toEqual([terms]);
	expect(budgetsOf([own('gpt-4o')])).toEqual([ofTier, { ...terms, budget: 'model:gpt-4o', model: 'gpt-4o', ledgerName: 'model:gpt-4o' }]);
	expect(new Set(budgetsOf([own('gpt-4o'), own(null)]).map(({ budget }) => budget))).toEqual(new Set(['all', 'model:gpt-4o']));
	const disabled = new TermsResolver(tiers, { ...defaults, isEnabled: false });
	expect(disabled.termsOf(team({}), [own(null)], nowMs).budgets).toEqual([]);
});

test('rejects an invalid amount of a tier', () => {
	const broken = { broken: { requestsPerMinute: null, dailyTokens: null, monthlyBudgetUsd: 'much' } };
	expect(() => new TermsResolver(broken, defaults)).toThrow('the monthly budget of the tier `broken` is not a valid amount');
});

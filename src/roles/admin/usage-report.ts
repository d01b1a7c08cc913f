/** Usage of a team, from the sums of the ledger. */
import type { z } from 'zod';
import type { Team } from '../../core/team.ts';
import { noUsage, type Usage } from '../../core/usage.ts';
import { replacesTier, tierBudget } from '../../policy/limits/terms-resolver.ts';
import type { UsageSummary } from '../../stores/contracts/ledger.ts';
import type { AdminDeps } from './admin-deps.ts';
import type { Span } from './months.ts';
import { type budgetInForce, budgetPolicyBody } from './schemas/budget.ts';
import type { Grouping, UsageGroup } from './schemas/usage.ts';
import { tokensBody } from './schemas/usage.ts';
import { timeOf, usdText } from './schemas/values.ts';

export function periodBody({ fromMs, toMs }: Span, rows: readonly UsageSummary[]) {
	return { period: { start: timeOf(fromMs), end: timeOf(toMs) }, ...sumsBody(rows), models: modelsBody(rows) };
}

function modelsBody(rows: readonly UsageSummary[]) {
	return grouped(rows, ({ provider, model }) => ({ provider, model }));
}

export function groupsBody(rows: readonly UsageSummary[], by: Grouping): UsageGroup[] {
	switch (by) {
		case 'model':
			return modelsBody(rows);
		case 'provider':
			return grouped(rows, ({ provider }) => ({ provider }));
		case 'client':
			return grouped(rows, ({ clientId }) => ({ client: clientId }));
		case 'day':
			return grouped(rows, ({ period }) => ({ day: period }));
	}
}

function grouped<Key extends object>(rows: readonly UsageSummary[], keyOf: (row: UsageSummary) => Key) {
	const groups = Map.groupBy(rows, (row) => JSON.stringify(keyOf(row)));
	const names = [...groups.keys()].toSorted();
	return names.flatMap((name) => {
		const ofGroup = groups.get(name) ?? [];
		const [first] = ofGroup;
		return first === undefined ? [] : [{ ...keyOf(first), ...sumsBody(ofGroup) }];
	});
}

export function sumsBody(rows: readonly UsageSummary[]) {
	return {
		requests: rows.reduce((sum, row) => sum + row.requests, 0),
		tokens: tokensBody(rows.reduce((sum, row) => addUsage(sum, row.usage), noUsage)),
		cost_usd: usdText(rows.reduce((sum, row) => sum + row.costNanoUsd, 0n)),
		estimated_cost_usd: usdText(rows.reduce((sum, row) => sum + row.estimatedCostNanoUsd, 0n)),
	};
}

function addUsage(one: Usage, other: Usage): Usage {
	return {
		inputTokens: one.inputTokens + other.inputTokens,
		cacheReadTokens: one.cacheReadTokens + other.cacheReadTokens,
		cacheWriteTokens: one.cacheWriteTokens + other.cacheWriteTokens,
		cacheWriteHourTokens: one.cacheWriteHourTokens + other.cacheWriteHourTokens,
		outputTokens: one.outputTokens + other.outputTokens,
		reasoningTokens: one.reasoningTokens + other.reasoningTokens,
	};
}

/** Returns the team's own budgets, and its tier's unless it has one for all models. */
export async function budgetsInForce(
	{ records, configured, budgetMeter }: AdminDeps,
	id: string,
	team: Team | undefined,
): Promise<z.output<typeof budgetInForce>[]> {
	const own = (await records.budgets.list())
		.filter((budget) => budget.team === id)
		.map((budget) => ({ ...budget, source: 'budget' as const }));
	const ofTier = own.some(replacesTier) || team === undefined ? undefined : budgetOfTier(configured(), team.tier);
	const readings = await budgetMeter.read([...(ofTier === undefined ? [] : [{ ...ofTier, team: id }]), ...own]);
	return readings.map(({ budget, usage }) => ({ ...budgetPolicyBody(budget), source: budget.source, usage }));
}

/** Fallback for a team whose tier is missing from the configuration: the smallest limits. */
const fallbackTier = 'sandbox';

function budgetOfTier({ tiers, budgetDefaults }: ReturnType<AdminDeps['configured']>, wanted: string) {
	const name = Object.hasOwn(tiers, wanted) ? wanted : fallbackTier;
	const usd = tiers[name]?.monthlyBudgetUsd ?? null;
	return usd === null ? undefined : { ...tierBudget(name, usd, budgetDefaults), source: 'tier' as const };
}

/** Spend of budgets in the current UTC month, and the state of each budget. */
import type { z } from 'zod';
import { counterName } from '../../policy/limits/terms-resolver.ts';
import { periodOf } from '../../policy/limits/utc-time.ts';
import { CountersMissing } from '../../stores/contracts/admission.ts';
import type { AdminPorts } from './admin-settings.ts';
import { spanOfMonth } from './months.ts';
import type { budgetUsage } from './schemas/budget.ts';
import { timeOf, usdText } from './schemas/values.ts';

/** A budget, whether stored or defined by a tier. */
export interface MeteredBudget {
	readonly team: string;
	readonly model: string | null;
	readonly limitNanoUsd: bigint;
	readonly warningThresholdPercent: number;
	readonly hardLimitPercent: number;
}

export interface BudgetMeter {
	/** Returns usage in the order given. */
	read<Budget extends MeteredBudget>(budgets: readonly Budget[]): Promise<{ readonly budget: Budget; readonly usage: BudgetUsage }[]>;
}

export type BudgetUsage = z.output<typeof budgetUsage>;

interface Spent {
	readonly settledNanoUsd: bigint;
	readonly reservedNanoUsd: bigint;
}

type Ports = Pick<AdminPorts, 'admission' | 'ledger' | 'sumUpSpent' | 'clock' | 'log'>;

export function createBudgetMeter({ admission, ledger, sumUpSpent, clock, log }: Ports): BudgetMeter {
	/** @returns undefined if the counters have no complete reading. */
	const fromCounters = async (team: string, models: readonly (string | null)[], period: string): Promise<readonly Spent[] | undefined> => {
		try {
			const counters = models.map((model) => ({ budget: counterName(model), period }));
			const reading = await admission?.read(team, counters);
			return reading?.budgets.length === models.length ? reading.budgets : undefined;
		} catch (cause) {
			// The team has sent no request since the start, so the ledger is complete.
			if (!(cause instanceof CountersMissing)) {
				log.warn('counters cannot be read; budgets are computed from the ledger', { team, cause: String(cause) });
			}
			return undefined;
		}
	};
	/** Reads the sums of any number of teams at once. */
	const ofAllModels = async (teams: readonly string[], period: string): Promise<readonly bigint[]> =>
		teams.length === 0 ? [] : ledger.sumCosts({ ...spanOfMonth(period), of: teams.map((team) => ({ team, model: null })) });
	const fromLedger = async <Budget extends MeteredBudget>(budgets: readonly Budget[], period: string): Promise<Map<Budget, bigint>> => {
		const spent = new Map<Budget, bigint>();
		const whole = budgets.filter(({ model }) => model === null);
		const costs = await ofAllModels(
			whole.map(({ team }) => team),
			period,
		);
		for (const [index, budget] of whole.entries()) spent.set(budget, costs[index] ?? 0n);
		for (const [team, ofTeam] of Map.groupBy(
			budgets.filter(({ model }) => model !== null),
			(budget) => budget.team,
		)) {
			const ofModels = await sumUpSpent(
				team,
				ofTeam.map(({ model }) => ({ budget: counterName(model), period })),
			);
			for (const [index, budget] of ofTeam.entries()) spent.set(budget, ofModels[index] ?? 0n);
		}
		return spent;
	};
	return {
		async read<Budget extends MeteredBudget>(budgets: readonly Budget[]) {
			const period = periodOf(clock.nowMs());
			const span = spanOfMonth(period);
			const spent = new Map<Budget, Spent>();
			await Promise.all(
				[...Map.groupBy(budgets, ({ team }) => team)].map(async ([team, ofTeam]) => {
					const found = await fromCounters(
						team,
						ofTeam.map(({ model }) => model),
						period,
					);
					for (const [index, one] of (found ?? []).entries()) spent.set(ofTeam[index] as Budget, one);
				}),
			);
			const missing = budgets.filter((budget) => !spent.has(budget));
			for (const [budget, settledNanoUsd] of await fromLedger(missing, period)) spent.set(budget, { settledNanoUsd, reservedNanoUsd: 0n });
			const times = { period_start: timeOf(span.fromMs), period_end: timeOf(span.toMs) };
			return budgets.map((budget) => ({ budget, usage: usageOf(budget, spent.get(budget) ?? noSpend, times) }));
		},
	};
}

const noSpend: Spent = { settledNanoUsd: 0n, reservedNanoUsd: 0n };

interface Period {
	readonly period_start: string;
	readonly period_end: string;
}

function usageOf(budget: MeteredBudget, { settledNanoUsd, reservedNanoUsd }: Spent, period: Period): BudgetUsage {
	const { limitNanoUsd, hardLimitPercent, warningThresholdPercent } = budget;
	const remainingNanoUsd = (limitNanoUsd * BigInt(hardLimitPercent)) / 100n - settledNanoUsd - reservedNanoUsd;
	const isWarning = settledNanoUsd * 100n >= limitNanoUsd * BigInt(warningThresholdPercent);
	return {
		...period,
		spent_usd: usdText(settledNanoUsd),
		reserved_usd: usdText(reservedNanoUsd),
		remaining_usd: usdText(remainingNanoUsd > 0n ? remainingNanoUsd : 0n),
		utilization_percent: limitNanoUsd === 0n ? 100 : Number((settledNanoUsd * 10_000n) / limitNanoUsd) / 100,
		state: remainingNanoUsd <= 0n ? 'exhausted' : isWarning ? 'warning' : 'ok',
	};
}

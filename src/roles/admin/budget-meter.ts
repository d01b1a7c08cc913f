/** Spend of budgets in their current windows, and the state of each budget. */
import type { z } from 'zod';
import { amountAt, type BudgetPolicy } from '../../core/budget.ts';
import { allModels, counterName } from '../../core/budget-scope.ts';
import type { BudgetPeriod } from '../../core/counters.ts';
import { type WindowSpan, windowAt } from '../../policy/limits/budget-windows.ts';
import { CountersMissing } from '../../stores/contracts/admission.ts';
import type { AdminPorts } from './admin-settings.ts';
import type { budgetUsage } from './schemas/budget.ts';
import { timeOf, usdText } from './schemas/values.ts';

/** A budget, whether stored or defined by a tier. */
export type MeteredBudget = BudgetPolicy & { readonly team: string };

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

/** A budget with its counter in the current window. */
interface Current<Budget> {
	readonly budget: Budget;
	readonly counter: BudgetPeriod;
	readonly span: WindowSpan;
}

const dayMs = 86_400_000;

export function createBudgetMeter({ admission, ledger, sumUpSpent, clock, log }: Ports): BudgetMeter {
	/** @returns undefined if the counters have no complete reading. */
	const fromCounters = async (team: string, counters: readonly BudgetPeriod[]): Promise<readonly Spent[] | undefined> => {
		try {
			const reading = await admission?.read(team, counters);
			return reading?.budgets.length === counters.length ? reading.budgets : undefined;
		} catch (cause) {
			// The team has sent no request since the start, so the ledger is complete.
			if (!(cause instanceof CountersMissing)) {
				log.warn('counters cannot be read; budgets are computed from the ledger', { team, cause: String(cause) });
			}
			return undefined;
		}
	};
	const fromLedger = async <Budget extends MeteredBudget>(all: readonly Current<Budget>[]): Promise<Map<Budget, bigint>> => {
		const spent = new Map<Budget, bigint>();
		// Sums of whole UTC days are read for any number of teams at once.
		const [whole, others] = partition(all, ({ counter, span }) => counter.budget === allModels && isOfDays(span));
		for (const ofSpan of Map.groupBy(whole, ({ span }) => span.period).values()) {
			const [first] = ofSpan;
			if (first === undefined) continue;
			const of = ofSpan.map(({ budget: { team } }) => ({ team, model: null }));
			const costs = await ledger.sumCosts({ fromMs: first.span.fromMs, toMs: first.span.toMs, of });
			for (const [index, { budget }] of ofSpan.entries()) spent.set(budget, costs[index] ?? 0n);
		}
		for (const [team, ofTeam] of Map.groupBy(others, ({ budget }) => budget.team)) {
			const costs = await sumUpSpent(
				team,
				ofTeam.map(({ counter }) => counter),
			);
			for (const [index, { budget }] of ofTeam.entries()) spent.set(budget, costs[index] ?? 0n);
		}
		return spent;
	};
	return {
		async read<Budget extends MeteredBudget>(budgets: readonly Budget[]) {
			const nowMs = clock.nowMs();
			const current = budgets.map((budget): Current<Budget> => {
				const span = windowAt(budget, nowMs);
				return { budget, span, counter: { budget: counterName(budget), period: span.period } };
			});
			const spent = new Map<Budget, Spent>();
			await Promise.all(
				[...Map.groupBy(current, ({ budget }) => budget.team)].map(async ([team, ofTeam]) => {
					const found = await fromCounters(
						team,
						ofTeam.map(({ counter }) => counter),
					);
					for (const [index, { budget }] of ofTeam.entries()) {
						const one = found?.[index];
						if (one !== undefined) spent.set(budget, one);
					}
				}),
			);
			const missing = current.filter(({ budget }) => !spent.has(budget));
			for (const [budget, settledNanoUsd] of await fromLedger(missing)) spent.set(budget, { settledNanoUsd, reservedNanoUsd: 0n });
			return current.map(({ budget, span }) => ({ budget, usage: usageOf(budget, spent.get(budget) ?? noSpend, span, nowMs) }));
		},
	};
}

const noSpend: Spent = { settledNanoUsd: 0n, reservedNanoUsd: 0n };

function isOfDays({ fromMs, toMs }: WindowSpan): boolean {
	return fromMs % dayMs === 0 && toMs % dayMs === 0;
}

function partition<Value>(all: readonly Value[], isFirst: (value: Value) => boolean): [Value[], Value[]] {
	return [all.filter(isFirst), all.filter((value) => !isFirst(value))];
}

function usageOf(
	budget: MeteredBudget,
	{ settledNanoUsd, reservedNanoUsd }: Spent,
	{ fromMs, toMs }: WindowSpan,
	nowMs: number,
): BudgetUsage {
	const { hardLimitPercent, warningThresholdPercent } = budget;
	const limitNanoUsd = amountAt(budget, nowMs);
	const remainingNanoUsd = (limitNanoUsd * BigInt(hardLimitPercent)) / 100n - settledNanoUsd - reservedNanoUsd;
	const isWarning = settledNanoUsd * 100n >= limitNanoUsd * BigInt(warningThresholdPercent);
	return {
		period_start: timeOf(fromMs),
		period_end: timeOf(toMs),
		spent_usd: usdText(settledNanoUsd),
		reserved_usd: usdText(reservedNanoUsd),
		remaining_usd: usdText(remainingNanoUsd > 0n ? remainingNanoUsd : 0n),
		utilization_percent: limitNanoUsd === 0n ? 100 : Number((settledNanoUsd * 10_000n) / limitNanoUsd) / 100,
		state: remainingNanoUsd <= 0n ? 'exhausted' : isWarning ? 'warning' : 'ok',
	};
}

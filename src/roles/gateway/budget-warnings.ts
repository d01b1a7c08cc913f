import { allModels } from '../../core/budget-scope.ts';
import type { BudgetReading } from '../../core/counters.ts';
import type { Log } from '../../core/log.ts';
import type { Metrics } from '../../core/metrics.ts';
import { formatUsd } from '../../core/money.ts';
import { crossed } from '../../policy/limits/request-limits.ts';
import type { BudgetTerms } from '../../policy/limits/terms-resolver.ts';

/** One settlement and the budgets it was added to. */
export interface Booking {
	readonly team: string;
	readonly costNanoUsd: bigint;
	/** Counters after the settlement. */
	readonly readings: readonly BudgetReading[];
}

/** Warns of each budget that the settlement moved across its warning threshold, so that one settlement per period does. */
export type WarnOfBudgets = (booking: Booking, terms: readonly BudgetTerms[]) => void;

export function budgetWarnings(metrics: Metrics, log: Log): WarnOfBudgets {
	const warnings = metrics.counter('tollgate_budget_warnings_total', 'Budget warnings, one per crossing of the warning threshold.', [
		'scope',
	]);
	return ({ team, costNanoUsd, readings }, terms) => {
		for (const { budget, period, id, model, budgetNanoUsd, warningThresholdPercent: percent } of terms) {
			const spent = readings.find((reading) => reading.budget === budget && reading.period === period)?.settledNanoUsd;
			if (spent === undefined || !crossed(spent - costNanoUsd, spent, budgetNanoUsd, percent)) continue;
			warnings.add(1, { scope: budget === allModels ? 'team' : model === null ? 'other' : 'model' });
			log.warn('budget warning', { team, budget: id, percent, spentUsd: formatUsd(spent), limitUsd: formatUsd(budgetNanoUsd) });
		}
	};
}

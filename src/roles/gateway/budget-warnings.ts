import { allModels } from '../../core/budget-scope.ts';
import type { BudgetReading } from '../../core/counters.ts';
import type { Log } from '../../core/log.ts';
import type { Metrics } from '../../core/metrics.ts';
import { formatUsd } from '../../core/money.ts';
import type { NoticeEvent, Notify } from '../../core/notice.ts';
import { spanOfPeriod } from '../../policy/limits/budget-windows.ts';
import { crossed } from '../../policy/limits/request-limits.ts';
import type { BudgetTerms } from '../../policy/limits/terms-resolver.ts';

/** One settlement and the budgets it was added to. */
export interface Booking {
	readonly team: string;
	readonly costNanoUsd: bigint;
	/** Counters after the settlement. */
	readonly readings: readonly BudgetReading[];
}

/** Warns of each budget that the settlement moved across a threshold, so that one settlement per period does. */
export type WarnOfBudgets = (booking: Booking, terms: readonly BudgetTerms[]) => void;

export function budgetWarnings(metrics: Metrics, log: Log, notify: Notify = ignore): WarnOfBudgets {
	const warnings = metrics.counter('tollgate_budget_warnings_total', 'Budget warnings, one per crossing of the warning threshold.', [
		'scope',
	]);
	return ({ team, costNanoUsd, readings }, terms) => {
		for (const one of terms) {
			const { budget, period, id, model, budgetNanoUsd, limitNanoUsd, warningThresholdPercent: percent } = one;
			const spent = readings.find((reading) => reading.budget === budget && reading.period === period)?.settledNanoUsd;
			if (spent === undefined) continue;
			const before = spent - costNanoUsd;
			if (before < limitNanoUsd && spent >= limitNanoUsd) notify(budgetNotice('budget.exceeded', team, one, spent));
			if (!crossed(before, spent, budgetNanoUsd, percent)) continue;
			notify(budgetNotice('budget.warning', team, one, spent));
			warnings.add(1, { scope: budget === allModels ? 'team' : model === null ? 'other' : 'model' });
			log.warn('budget warning', { team, budget: id, percent, spentUsd: formatUsd(spent), limitUsd: formatUsd(budgetNanoUsd) });
		}
	};
}

const ignore: Notify = () => undefined;

/** Returns the notice of a threshold, which is the same for each budget and window. */
export function budgetNotice(event: NoticeEvent, team: string, terms: BudgetTerms, spentNanoUsd: bigint) {
	const { fromMs, toMs } = spanOfPeriod(terms.period);
	return {
		event,
		subject: [team, terms.id, terms.budget, terms.period].join('\n'),
		repeatsUntilMs: toMs + lateMs,
		data: {
			team,
			budget: terms.id,
			model: terms.model,
			client: terms.client,
			provider: terms.provider,
			attribute: terms.attribute,
			window: terms.window,
			period_start: new Date(fromMs).toISOString(),
			period_end: new Date(toMs).toISOString(),
			limit_usd: formatUsd(terms.budgetNanoUsd),
			spent_usd: formatUsd(spentNanoUsd),
			warning_threshold_percent: terms.warningThresholdPercent,
			enforced: terms.isEnforced,
		},
	};
}

/** Requests of a window can end after it. */
const lateMs = 48 * 3_600_000;

import { BoundedMap } from '../../core/bounded-map.ts';
import type { Rejected } from '../../core/counters.ts';
import type { Notify } from '../../core/notice.ts';
import type { LimitRejection } from '../../policy/limits/limit-rejection.ts';
import type { BudgetTerms } from '../../policy/limits/terms-resolver.ts';
import { budgetNotice } from './budget-warnings.ts';

/** More than the budgets that reject requests at one time. A forgotten one is noticed again, and the store knows its event. */
const maxKnown = 10_000;

/**
 * Notifies of budgets that reject requests although their spend is below the limit, because a request no longer fits. A budget below its
 * warning threshold is not exhausted: the request was too expensive.
 */
export class ExhaustedBudgets {
	readonly #known = new BoundedMap<string, true>(maxKnown);
	readonly #notify: Notify | undefined;

	constructor(notify: Notify | undefined) {
		this.#notify = notify;
	}

	note(team: string, { budget, period, reading }: Rejected, { code }: LimitRejection, budgets: readonly BudgetTerms[]): void {
		if (this.#notify === undefined || budget === undefined || period === undefined || code === 'budget_reserved') return;
		const key = `${team}\n${budget}\n${period}`;
		if (this.#known.has(key)) return;
		const isNamed = (one: { readonly budget: string; readonly period: string }): boolean => one.budget === budget && one.period === period;
		const terms = budgets.find((one) => one.isEnforced && isNamed(one));
		const spent = reading.budgets.find(isNamed)?.settledNanoUsd ?? 0n;
		if (terms === undefined || spent * 100n < terms.budgetNanoUsd * BigInt(terms.warningThresholdPercent)) return;
		this.#known.set(key, true);
		this.#notify(budgetNotice('budget.exceeded', team, terms, spent));
	}
}

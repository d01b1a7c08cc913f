/** Resolves the limits and budgets of a team's requests. */

import type { AllowLists } from '../../core/allow-lists.ts';
import { amountAt, type BudgetPolicy, plainBudget } from '../../core/budget.ts';
import { allModels, counterName } from '../../core/budget-scope.ts';
import { parseUsd } from '../../core/money.ts';
import type { Team, TeamLimits } from '../../core/team.ts';
import { ledgerBudgetName, windowAt } from './budget-windows.ts';
import { type RateSettings, type RateTerms, resolveRates } from './rate-limits.ts';
import type { BudgetLimit } from './request-limits.ts';

export interface TierSettings extends RateSettings {
	/** Decimal US dollars for a team without a budget of its own; null: none. */
	readonly monthlyBudgetUsd: string | null;
	readonly allowLists?: AllowLists;
}

export interface BudgetDefaults {
	/** Enables budgets; false: no request is checked against any. */
	readonly isEnabled: boolean;
	/** Warning threshold of budgets from a tier. */
	readonly warningThresholdPercent: number;
	readonly hardLimitPercent: number;
}

/** A budget in its current window. */
export interface BudgetTerms extends BudgetLimit {
	/** Amount to which both percentages apply. */
	readonly budgetNanoUsd: bigint;
	readonly warningThresholdPercent: number;
	/** Name in ledger entries. */
	readonly ledgerName: string;
}

export interface TeamTerms extends RateTerms {
	readonly tier: string;
	/** Budgets, with that of all models first. */
	readonly budgets: readonly BudgetTerms[];
}

/** Tier of a team whose own tier is no longer configured. */
const fallbackTier = 'sandbox';

interface Tier {
	readonly rates: RateSettings;
	/** Terms of teams without limits of their own. */
	readonly terms: RateTerms;
	readonly budgets: readonly BudgetPolicy[];
	/** Terms of `budgets`, the same object while their window lasts. */
	current: readonly BudgetTerms[];
}

interface ResolvedBudget {
	readonly terms: BudgetTerms;
	/** Span of time in which these terms apply. */
	readonly fromMs: number;
	readonly toMs: number;
}

const none: readonly never[] = [];

export class TermsResolver {
	readonly #tiers = new Map<string, Tier>();
	/** Terms of teams with limits of their own, which stay the same objects while the records do. */
	readonly #ofTeams = new WeakMap<TeamLimits, { readonly tier: Tier; readonly terms: RateTerms }>();
	readonly #ofBudgets = new WeakMap<BudgetPolicy, ResolvedBudget>();
	readonly #isEnabled: boolean;

	/** @throws Error for amounts that the schema should have rejected. */
	constructor(tiers: Readonly<Record<string, TierSettings>>, defaults: BudgetDefaults) {
		this.#isEnabled = defaults.isEnabled;
		for (const [name, { monthlyBudgetUsd, ...rates }] of Object.entries(tiers)) {
			const terms = resolveRates(rates, undefined);
			const budgets = monthlyBudgetUsd === null ? none : [tierBudget(name, monthlyBudgetUsd, defaults)];
			this.#tiers.set(name, { rates, terms, budgets, current: none });
		}
	}

	/** @param budgets of the team that the request counts toward. @param nowMs time of the decision, Unix milliseconds. */
	termsOf({ tier: name, limits }: Team, budgets: readonly BudgetPolicy[], nowMs: number): TeamTerms {
		const tier = this.#tiers.get(name) ?? this.#tiers.get(fallbackTier);
		if (tier === undefined) throw new Error(`there is no tier \`${name}\``);
		const rates = limits === undefined ? tier.terms : this.#termsOfTeam(tier, limits);
		const inForce = this.#isEnabled ? this.#inForce(budgets, tier, nowMs) : none;
		return { tier: name, limits: rates.limits, monitored: rates.monitored, budgets: inForce };
	}

	#inForce(own: readonly BudgetPolicy[], tier: Tier, nowMs: number): readonly BudgetTerms[] {
		if (own.length === 0) return this.#ofTier(tier, nowMs);
		const terms = own.map((budget) => this.#budgetTermsOf(budget, nowMs));
		return own.some(replacesTier) ? terms : [...this.#ofTier(tier, nowMs), ...terms];
	}

	#ofTier(tier: Tier, nowMs: number): readonly BudgetTerms[] {
		const [budget] = tier.budgets;
		if (budget === undefined) return none;
		const terms = this.#budgetTermsOf(budget, nowMs);
		if (tier.current[0] !== terms) tier.current = [terms];
		return tier.current;
	}

	#budgetTermsOf(budget: BudgetPolicy, nowMs: number): BudgetTerms {
		const known = this.#ofBudgets.get(budget);
		if (known !== undefined && nowMs >= known.fromMs && nowMs < known.toMs) return known.terms;
		const { fromMs, toMs, period } = windowAt(budget, nowMs);
		const { raise } = budget;
		const isRaised = raise !== null && nowMs < raise.untilMs;
		const resolved = {
			terms: currentTerms(budget, period, amountAt(budget, nowMs)),
			fromMs: raise === null || isRaised ? fromMs : Math.max(fromMs, raise.untilMs),
			toMs: isRaised ? Math.min(toMs, raise.untilMs) : toMs,
		};
		this.#ofBudgets.set(budget, resolved);
		return resolved.terms;
	}

	#termsOfTeam(tier: Tier, limits: TeamLimits): RateTerms {
		const known = this.#ofTeams.get(limits);
		if (known?.tier === tier) return known.terms;
		const terms = resolveRates(tier.rates, limits);
		this.#ofTeams.set(limits, { tier, terms });
		return terms;
	}
}

/** A team's own budget for all requests of a month replaces that of its tier, unless it is only monitored. */
export function replacesTier(budget: BudgetPolicy): boolean {
	return counterName(budget) === allModels && budget.window === 'month' && budget.mode === 'enforce';
}

function currentTerms(budget: BudgetPolicy, period: string, budgetNanoUsd: bigint): BudgetTerms {
	const { id, model, client, provider, attribute, window, whenExceeded, mode, fallbackModel } = budget;
	const name = counterName(budget);
	const isEnforced = mode === 'enforce' && whenExceeded !== 'warn';
	return {
		id,
		budget: name,
		period,
		model,
		client,
		provider,
		attribute,
		window,
		limitNanoUsd: (budgetNanoUsd * BigInt(budget.hardLimitPercent)) / 100n,
		isEnforced,
		fallbackModel: isEnforced && whenExceeded === 'fallback_model' ? fallbackModel : null,
		budgetNanoUsd,
		warningThresholdPercent: budget.warningThresholdPercent,
		ledgerName: ledgerBudgetName(name, budget),
		report: mode === 'monitor' ? 'monitor' : whenExceeded === 'warn' ? 'warn' : 'nothing',
	};
}

/** Returns the budget that a tier gives to its teams. @throws Error for an amount that the schema should have rejected. */
export function tierBudget(
	tier: string,
	usd: string,
	{ warningThresholdPercent, hardLimitPercent }: Omit<BudgetDefaults, 'isEnabled'>,
): BudgetPolicy {
	const limitNanoUsd = parseUsd(usd);
	if (limitNanoUsd === undefined) throw new Error(`the monthly budget of the tier \`${tier}\` is not a valid amount`);
	return { ...plainBudget, id: `tier-${tier}`, limitNanoUsd, warningThresholdPercent, hardLimitPercent };
}

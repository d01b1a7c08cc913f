/** Resolves the limits and budgets of a team's requests. */
import { parseUsd } from '../../core/money.ts';
import type { Team } from '../../core/team.ts';
import type { BudgetLimit, RateLimits } from './request-limits.ts';

export interface TierSettings extends RateLimits {
	/** Decimal US dollars for a team without a budget of its own; null: none. */
	readonly monthlyBudgetUsd: string | null;
}

export interface BudgetDefaults {
	/** Enables budgets; false: no request is checked against any. */
	readonly isEnabled: boolean;
	/** Warning threshold of budgets from a tier. */
	readonly warningThresholdPercent: number;
	readonly hardLimitPercent: number;
}

/** Budget in its stored form. */
export interface TeamBudget {
	readonly id: string;
	readonly model: string | null;
	readonly limitNanoUsd: bigint;
	readonly warningThresholdPercent: number;
	readonly hardLimitPercent: number;
}

export interface BudgetTerms extends BudgetLimit {
	/** Amount to which both percentages apply. */
	readonly budgetNanoUsd: bigint;
	readonly warningThresholdPercent: number;
}

export interface TeamTerms extends RateLimits {
	readonly tier: string;
	/** Budgets, with that of all models first. */
	readonly budgets: readonly BudgetTerms[];
}

/** Counter of all requests of a team, with or without a budget. */
export const allModels = 'all';

/** Returns the counter name of a model's budget; null stands for all models together. */
export function counterName(model: string | null): string {
	return model === null ? allModels : `model:${model}`;
}

/** Returns the model of a counter; null: all. @returns undefined for any other name. */
export function modelOfCounter(name: string): string | null | undefined {
	if (name === allModels) return null;
	return name.startsWith('model:') ? name.slice('model:'.length) : undefined;
}

/** Tier of a team whose own tier is no longer configured. */
const fallbackTier = 'sandbox';

export class TermsResolver {
	readonly #tiers = new Map<string, { readonly rates: RateLimits; readonly budgets: readonly BudgetTerms[] }>();
	readonly #isEnabled: boolean;

	/** @throws Error for amounts that the schema should have rejected. */
	constructor(tiers: Readonly<Record<string, TierSettings>>, defaults: BudgetDefaults) {
		this.#isEnabled = defaults.isEnabled;
		for (const [name, { monthlyBudgetUsd, ...rates }] of Object.entries(tiers)) {
			this.#tiers.set(name, { rates, budgets: monthlyBudgetUsd === null ? [] : [tierBudget(name, monthlyBudgetUsd, defaults)] });
		}
	}

	/** @param budgets of the team that the request counts against. */
	termsOf({ tier: name, limits }: Team, budgets: readonly TeamBudget[]): TeamTerms {
		const tier = this.#tiers.get(name) ?? this.#tiers.get(fallbackTier);
		if (tier === undefined) throw new Error(`there is no tier \`${name}\``);
		const { requestsPerMinute = tier.rates.requestsPerMinute, dailyTokens = tier.rates.dailyTokens } = limits ?? {};
		return { tier: name, requestsPerMinute, dailyTokens, budgets: this.#isEnabled ? inForce(budgets, tier.budgets) : [] };
	}
}

function inForce(own: readonly TeamBudget[], ofTier: readonly BudgetTerms[]): readonly BudgetTerms[] {
	if (own.length === 0) return ofTier;
	const terms = own.map(({ id, model, limitNanoUsd, warningThresholdPercent, hardLimitPercent }) => ({
		id,
		budget: counterName(model),
		model,
		limitNanoUsd: (limitNanoUsd * BigInt(hardLimitPercent)) / 100n,
		budgetNanoUsd: limitNanoUsd,
		warningThresholdPercent,
	}));
	return terms.some(({ model }) => model === null) ? terms : [...ofTier, ...terms];
}

function tierBudget(tier: string, usd: string, { warningThresholdPercent, hardLimitPercent }: BudgetDefaults): BudgetTerms {
	const budgetNanoUsd = parseUsd(usd);
	if (budgetNanoUsd === undefined) throw new Error(`the monthly budget of the tier \`${tier}\` is not a valid amount`);
	const limitNanoUsd = (budgetNanoUsd * BigInt(hardLimitPercent)) / 100n;
	return { id: `tier-${tier}`, budget: allModels, model: null, limitNanoUsd, budgetNanoUsd, warningThresholdPercent };
}

import type { Attributes } from '../../../core/attributes.ts';
import type { Team } from '../../../core/team.ts';
import { ratesForModel } from '../../../policy/limits/rate-limits.ts';
import type { BudgetTerms, TeamTerms } from '../../../policy/limits/terms-resolver.ts';
import type { GatewayDeps } from '../gateway-deps.ts';
import type { PreparedRequest } from './prepare-request.ts';

/** Sender of a request. */
export interface Sender {
	readonly team: Team;
	/** Empty if it is unknown. */
	readonly clientId: string;
	readonly attributes?: Attributes | undefined;
}

/** Resolves the limits and budgets that apply to this model. Budgets that led to a substitution do not reject the substitute. */
export function termsForRequest(
	{ target, substitution }: Pick<PreparedRequest, 'target' | 'substitution'>,
	{ team, clientId, attributes }: Sender,
	listed: string | undefined,
	nowMs: number,
	deps: GatewayDeps,
): TeamTerms {
	const { provider, model } = target;
	const budgets = deps.ports.teams.budgetsFor(team.id, { provider, model, listed, clientId, attributes });
	const resolved = deps.terms.termsOf(team, budgets, nowMs);
	const rates = ratesForModel(resolved, { provider, model, listed });
	const terms = rates === resolved ? resolved : { ...resolved, ...rates };
	if (substitution === undefined) return terms;
	return {
		...terms,
		budgets: terms.budgets.map((budget) =>
			budget.fallbackModel === substitution.model ? { ...budget, isEnforced: false, fallbackModel: null } : budget,
		),
	};
}

export function hasEnforced(budgets: readonly BudgetTerms[]): boolean {
	return budgets.some(({ isEnforced }) => isEnforced);
}

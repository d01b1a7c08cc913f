import type { Team } from '../../../core/team.ts';
import type { TeamTerms } from '../../../policy/limits/terms-resolver.ts';
import type { GatewayDeps } from '../gateway-deps.ts';
import type { PreparedRequest } from './prepare-request.ts';

/**
 * Returns the model name for reports. Names in a price list or the configuration are always reported. Each team can add a limited number of
 * others per month. Beyond it, a model is reported under the name of its budget or price, if any.
 */
export function nameInReports(
	{ target, knownAs }: Pick<PreparedRequest, 'target' | 'knownAs'>,
	team: Team,
	month: string,
	listed: string | undefined,
	{ budgets }: TeamTerms,
	{ work, ports, configuredModels }: GatewayDeps,
): string {
	const { provider, model, alias } = target;
	if (listed === model || alias !== undefined || knownAs !== model || configuredModels.has(`${provider}/${model}`)) return model;
	// Budgets and overrides also apply to other spellings of their model.
	const budgeted = budgets.find((budget) => budget.model !== null)?.model ?? undefined;
	const overridden = ports.teams.priceOverride(provider, model)?.model;
	if (budgeted === model || overridden === model) return model;
	const isRouted = ports.teams
		.routingRules()
		.some(({ targets }) => targets.some((one) => one.provider === provider && one.model === model));
	return isRouted ? model : work.reportedModels.nameOf(team.id, month, target, budgeted ?? overridden ?? listed);
}

import type { Team } from '../../core/team.ts';
import type { ListInForce } from '../../policy/routing/allow-lists.ts';
import type { GatewayDeps } from './gateway-deps.ts';
import { judgeTarget } from './stages/allow-targets.ts';
import { routingInputOf } from './stages/choose-targets.ts';
import type { InferenceRequest } from './stages/read-inference-request.ts';

export interface ExplainedAllowLists {
	/** Lists in force, of the team or its tier. */
	readonly lists: readonly ListInForce[];
	/** Targets that a list does not allow. */
	readonly denied: readonly {
		readonly provider: string;
		readonly model: string;
		readonly list: string;
		readonly mode: ListInForce['mode'];
	}[];
}

/** Judges the targets of the route, before the list removes those that are not allowed. */
export function explainAllowLists(requested: InferenceRequest, team: Team, deps: GatewayDeps): ExplainedAllowLists {
	const lists = deps.allowLists.of(team)?.lists ?? [];
	if (lists.length === 0) return { lists, denied: [] };
	const denied = deps.routing.resolveTargets(routingInputOf(requested, team.id, deps)).flatMap((target) => {
		const { enforced, monitored } = judgeTarget(requested.model, target, team, deps) ?? {};
		const denial = enforced ?? monitored;
		return denial === undefined ? [] : [{ provider: target.provider, model: target.model, list: denial.path, mode: denial.mode }];
	});
	return { lists: lists.map(({ path, mode, values }) => ({ path, mode, values })), denied };
}

import type { MonitoredRoute } from '../../../policy/routing/routing.ts';
import type { Target } from '../../../policy/routing/target.ts';
import type { GatewayDeps } from '../gateway-deps.ts';
import { monitorEffect } from '../request-scope/monitor-effect.ts';
import type { RequestRecorder } from '../request-scope/request-recorder.ts';
import { routingInputOf } from './choose-targets.ts';
import type { InferenceRequest } from './read-inference-request.ts';

/** Records what a monitored routing rule would have chosen. */
export function monitorRouting(
	inferenceRequest: InferenceRequest,
	team: string,
	stored: Target | undefined,
	recorder: RequestRecorder,
	deps: GatewayDeps,
): void {
	const monitored = monitoredRouteOf(inferenceRequest, team, stored, deps);
	if (monitored === undefined) return;
	const { rule, target } = monitored;
	const [first] = deps.routing.resolveTargets(routingInputOf(inferenceRequest, team, deps));
	const isChanged = target.provider !== first.provider || target.model !== first.model;
	recorder.monitorRoute({ rule, provider: target.provider, model: target.model });
	deps.monitoredRoutes.add(1, { rule, target: isChanged ? 'changed' : 'same' });
	if (isChanged) monitorEffect('route_changed', recorder, deps);
}

/**
 * Returns the decision of monitored rules; undefined if there are none, or others decide.
 * @param stored target that stores what the request refers to. It serves the request, whatever rules say.
 */
export function monitoredRouteOf(
	inferenceRequest: InferenceRequest,
	team: string,
	stored: Target | undefined,
	deps: GatewayDeps,
): MonitoredRoute | undefined {
	const rules = deps.ports.teams.routingRulesWithMonitored();
	if (rules.length === 0 || stored !== undefined) return undefined;
	return deps.routing.monitoredRoute(routingInputOf(inferenceRequest, team, deps), rules);
}

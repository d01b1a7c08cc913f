import type { HeaderFields, HttpRequest } from '../../../core/handler.ts';
import type { Team } from '../../../core/team.ts';
import type { RoutingInput } from '../../../policy/routing/routing-settings.ts';
import type { Target, Targets } from '../../../policy/routing/target.ts';
import type { GatewayDeps } from '../gateway-deps.ts';
import type { RequestRecorder } from '../request-scope/request-recorder.ts';
import type { ProviderTraffic } from '../traffic-resolver.ts';
import { allowTargets } from './allow-targets.ts';
import type { InferenceRequest } from './read-inference-request.ts';
import { targetDialect } from './target-dialect.ts';

/**
 * Returns the targets of a request in the order in which they are tried.
 * @param stored target that stores what the request refers to. No other provider can serve it.
 * @param recorder of the request; undefined if it is only explained.
 * @throws `Rejection` `provider_*`, `model_not_allowed`.
 */
export function chooseTargets(
	inferenceRequest: RoutedRequest,
	team: Team,
	deps: GatewayDeps,
	stored?: Target,
	recorder?: RequestRecorder,
): Targets {
	const { model } = inferenceRequest;
	const routed = deps.routing.resolveTargets(routingInputOf(inferenceRequest, team.id, deps));
	if (stored !== undefined) {
		const [first = stored, ...others] = routed.filter(({ provider }) => provider === stored.provider);
		const [pinned] = allowTargets(model, [first, ...others], team, deps, recorder);
		return [pinned];
	}
	const targets = allowTargets(model, routed, team, deps, recorder);
	return targets.length === 1 ? targets : availableFirst(targets, deps);
}

/** Returns true if no target receives the request in the client's format. */
export function isTranslated(inferenceRequest: InferenceRequest, team: Team, deps: GatewayDeps): boolean {
	const { name } = inferenceRequest.format;
	return allowedTargets(inferenceRequest, team, deps).every((target) => targetDialect(target, name, deps) !== name);
}

/** Returns true if routing prefers this target, regardless of ejections and rate limits. */
export function isFirstChoice(inferenceRequest: RoutedRequest, target: Target, team: Team, deps: GatewayDeps): boolean {
	const [first] = allowedTargets(inferenceRequest, team, deps);
	return first.provider === target.provider && first.model === target.model;
}

/** @throws `Rejection` `provider_*`, `model_not_allowed`. */
function allowedTargets(inferenceRequest: RoutedRequest, team: Team, deps: GatewayDeps): Targets {
	return allowTargets(inferenceRequest.model, deps.routing.resolveTargets(routingInputOf(inferenceRequest, team.id, deps)), team, deps);
}

/** The part of a request that routing reads. */
export interface RoutedRequest extends Pick<InferenceRequest, 'endpoint' | 'format' | 'model' | 'session'> {
	readonly request: Pick<HttpRequest, 'id' | 'headers'>;
}

export function routingInputOf(
	{ request, endpoint, format, model, session }: RoutedRequest,
	team: string,
	{ ports, modelCapabilities }: GatewayDeps,
): RoutingInput {
	return {
		format: format.name,
		model,
		team,
		// Requests of one session get the same target; others are distributed.
		stickyKey: session === undefined ? request.id : `${team}/${session}`,
		rules: ports.teams.routingRules(),
		providerHeader: providerHeaderOf(request.headers),
		...(endpoint.failsOverTo === 'same_model' && { modelOf: (target) => modelCapabilities.of(target).knownAs ?? target.model }),
	};
}

/**
 * Moves targets whose rate limit is nearly exhausted behind the available ones, and ejected targets to the end. They are still tried if
 * there is no other. An ejected target that is due for a probe keeps its position for one request.
 */
function availableFirst(targets: Targets, { traffic }: GatewayDeps): Targets {
	const trafficOf = ({ provider }: Target): ProviderTraffic | undefined => traffic.get(provider)?.traffic;
	const rankIn = (target: Target): number => rankOf(target, trafficOf(target));
	if (targets.every((target) => rankIn(target) === rank.available)) return targets;
	const [preferred = targets[0], ...others] = targets.toSorted((left, right) => rankIn(left) - rankIn(right));
	const [first] = targets;
	const steered = trafficOf(first);
	if (preferred !== first && rankIn(first) === rank.rateLimited && steered !== undefined) steered.steered++;
	const probed = targets
		.slice(0, targets.indexOf(preferred))
		.find((target) => rankIn(target) === rank.ejected && trafficOf(target)?.canTakeRequest());
	return probed === undefined ? [preferred, ...others] : [probed, preferred, ...others.filter((target) => target !== probed)];
}

/** Order in which targets are tried. */
const rank = { available: 0, rateLimited: 1, ejected: 2 };

function rankOf({ model }: Target, traffic: ProviderTraffic | undefined): number {
	if (traffic?.health.isEjected === true) return rank.ejected;
	return traffic?.isRateLimited(model) === true ? rank.rateLimited : rank.available;
}

export function providerHeaderOf(headers: HeaderFields): string | undefined {
	const value = headers['x-gateway-provider'];
	return Array.isArray(value) ? value.join(', ') : value;
}

import { hash } from 'node:crypto';
import type { HeaderFields } from '../../../core/handler.ts';
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
	inferenceRequest: InferenceRequest,
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
export function isFirstChoice(inferenceRequest: InferenceRequest, target: Target, team: Team, deps: GatewayDeps): boolean {
	const [first] = allowedTargets(inferenceRequest, team, deps);
	return first.provider === target.provider && first.model === target.model;
}

/** @throws `Rejection` `provider_*`, `model_not_allowed`. */
function allowedTargets(inferenceRequest: InferenceRequest, team: Team, deps: GatewayDeps): Targets {
	return allowTargets(inferenceRequest.model, deps.routing.resolveTargets(routingInputOf(inferenceRequest, team.id, deps)), team, deps);
}

export function routingInputOf(inferenceRequest: InferenceRequest, team: string, { ports, modelCapabilities }: GatewayDeps): RoutingInput {
	const { request, endpoint, format, model } = inferenceRequest;
	return {
		format: format.name,
		model,
		team,
		stickyKey: stickyKeyOf(inferenceRequest, team),
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

/** Maximum of characters of a session that is used as it is. Vendors allow 64 and 256 in the fields of their requests. */
const maxPlainSession = 256;

/** Maximum of characters of a session that are hashed, because clients choose its length. */
const maxHashedSession = 4096;

/** Requests of one session get the same target; others are distributed. Header fields precede fields of the body, which name less. */
function stickyKeyOf({ request: { id, headers }, format, body }: InferenceRequest, team: string): string {
	const session =
		sessionIn(headers['x-gateway-session']) ??
		sessionIn(headers['x-claude-code-session-id']) ??
		sessionIn(format.sessionOf?.(body.members));
	if (session === undefined) return id;
	return `${team}/${session.length <= maxPlainSession ? session : hash('sha256', session.slice(0, maxHashedSession))}`;
}

function sessionIn(value: unknown): string | undefined {
	return typeof value === 'string' && value !== '' ? value : undefined;
}

function providerHeaderOf(headers: HeaderFields): string | undefined {
	const value = headers['x-gateway-provider'];
	return Array.isArray(value) ? value.join(', ') : value;
}

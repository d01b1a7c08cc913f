import { Rejection } from '../../core/rejection.ts';
import { UpstreamError } from '../../core/upstream-error.ts';
import type { RoutedBy } from '../../policy/routing/routing.ts';
import type { Target, Targets } from '../../policy/routing/target.ts';
import type { GatewayDeps } from './gateway-deps.ts';
import { routingInputOf } from './stages/choose-targets.ts';
import { monitoredRouteOf } from './stages/monitor-routing.ts';
import { prepareRequest } from './stages/prepare-request.ts';
import type { InferenceRequest } from './stages/read-inference-request.ts';
import type { ProviderTraffic } from './traffic-resolver.ts';

export interface ExplainedRoute {
	readonly decided_by: RoutedBy;
	readonly rule: string | null;
	/** First target that a monitored rule would choose, as `provider/model`; null: no monitored rule would decide. */
	readonly monitored: { readonly rule: string; readonly target: string } | null;
	/** Targets in the order in which they would be tried, then those that the rule has for other requests only. */
	readonly targets: readonly {
		readonly provider: string;
		readonly model: string;
		/** Code of the error that excludes the target, or `model_differs`; null: none. */
		readonly code: string | null;
		/** Null if provider health is not tracked here. */
		readonly ejected: boolean | null;
		/** True if the provider's rate limit for the model is nearly exhausted. Null as above. */
		readonly rate_limited: boolean | null;
	}[];
}

interface TrafficPorts {
	/** Undefined if provider health is not tracked here. */
	readonly trafficOf: ((provider: string) => Pick<ProviderTraffic, 'health' | 'isRateLimited'>) | undefined;
}

interface RoutedRequest {
	readonly inferenceRequest: InferenceRequest;
	readonly team: string;
	/** Target that stores what the request refers to. */
	readonly stored: Target | undefined;
	/** Targets in the order in which they would be tried. */
	readonly targets: Targets;
}

/** Explains where a request would go, and what monitored rules would change. */
export function explainRoute(
	{ inferenceRequest, team, stored, targets }: RoutedRequest,
	deps: GatewayDeps,
	ports: TrafficPorts,
): ExplainedRoute {
	const { by, rule, excluded } = deps.routing.explain(routingInputOf(inferenceRequest, team, deps));
	const monitored = monitoredRouteOf(inferenceRequest, team, stored, deps);
	return {
		decided_by: by,
		rule,
		monitored: monitored === undefined ? null : { rule: monitored.rule, target: `${monitored.target.provider}/${monitored.target.model}` },
		targets: [
			...targets.map((target) => describeTarget(inferenceRequest, target, team, deps, ports)),
			...excluded.map((target) => ({ ...describeState(target, ports), code: 'model_differs' })),
		],
	};
}

function describeTarget(
	inferenceRequest: InferenceRequest,
	target: Target,
	team: string,
	deps: GatewayDeps,
	ports: TrafficPorts,
): ExplainedRoute['targets'][number] {
	const described = describeState(target, ports);
	try {
		prepareRequest(inferenceRequest, target, team, deps);
		return { ...described, code: null };
	} catch (cause) {
		if (cause instanceof Rejection || cause instanceof UpstreamError) return { ...described, code: cause.code };
		throw cause;
	}
}

function describeState({ provider, model }: Target, { trafficOf }: TrafficPorts): Omit<ExplainedRoute['targets'][number], 'code'> {
	const traffic = trafficOf?.(provider);
	return { provider, model, ejected: traffic?.health.isEjected ?? null, rate_limited: traffic?.isRateLimited(model) ?? null };
}

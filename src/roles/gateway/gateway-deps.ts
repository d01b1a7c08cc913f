import { type Counter, noMetrics } from '../../core/metrics.ts';
import { createCallerReader } from '../../policy/access/caller-reader.ts';
import type { ReadCaller } from '../../policy/access/claims.ts';
import { DefaultOutputCaps } from '../../policy/budgets/default-output-caps.ts';
import { PriceResolver } from '../../policy/budgets/price-resolver.ts';
import { TermsResolver } from '../../policy/limits/terms-resolver.ts';
import type { TrafficSettings } from '../../policy/resilience/traffic-settings.ts';
import { AllowListResolver } from '../../policy/routing/allow-lists.ts';
import { Routing } from '../../policy/routing/routing.ts';
import { Provider } from '../../wire/providers/provider.ts';
import { allowListCounter } from './allow-list-counter.ts';
import { budgetWarnings, type WarnOfBudgets } from './budget-warnings.ts';
import { ExhaustedBudgets } from './exhausted-budgets.ts';
import type { GatewayPorts, GatewaySettings } from './gateway-settings.ts';
import { GatewayWork } from './gateway-work.ts';
import { GuardrailRunner } from './guardrail-runner.ts';
import { ModelCapabilityResolver } from './model-capability-resolver.ts';
import { RequestMetricsByModel } from './model-metrics.ts';
import { type AttemptTimeouts, attemptTimeouts } from './provider-timeouts.ts';
import type { ProviderTraffic } from './traffic-resolver.ts';

/** Dependencies that are created once and shared by all requests. */
export interface GatewayDeps {
	readonly settings: GatewaySettings;
	readonly ports: GatewayPorts;
	/** Scope that clients need. */
	readonly invokeScope: string;
	/** Undefined: the caller as claimed. */
	readonly readCaller: ReadCaller | undefined;
	readonly routing: Routing;
	readonly allowLists: AllowListResolver;
	readonly allowListDecisions: Counter;
	readonly providers: ReadonlyMap<string, Provider>;
	readonly modelCapabilities: ModelCapabilityResolver;
	/** Models that the configuration names, each as `provider/model`. */
	readonly configuredModels: ReadonlySet<string>;
	/** Retries, health and concurrency of each provider, by name. */
	readonly traffic: ReadonlyMap<string, BoundTraffic>;
	readonly timeouts: AttemptTimeouts;
	readonly work: GatewayWork;
	readonly terms: TermsResolver;
	readonly prices: PriceResolver;
	readonly defaultOutputCaps: DefaultOutputCaps;
	readonly requestMetrics: RequestMetricsByModel;
	readonly warnOfBudgets: WarnOfBudgets;
	/** Notifies of budgets that reject a request. */
	readonly exhausted: ExhaustedBudgets;
	/** Counts effects that monitored policies would have had. */
	readonly monitored: Counter;
	/** Counts requests for which a monitored routing rule would have decided. */
	readonly monitoredRoutes: Counter;
	/** Counts responses whose owner could not be stored. */
	readonly ownerFailures: Counter;
	/** Undefined if no guardrails are configured. */
	readonly guardrailRunner: GuardrailRunner | undefined;
}

/** Traffic state, which outlives configurations, and its current terms. */
export interface BoundTraffic {
	readonly traffic: ProviderTraffic;
	readonly terms: TrafficSettings;
}

export function assembleDeps(settings: GatewaySettings, ports: GatewayPorts): GatewayDeps {
	const prices = new PriceResolver(settings.budgets, (provider, model) => ports.teams.priceOverride(provider, model));
	return {
		settings,
		ports,
		invokeScope: `${settings.scopeBase}/invoke`,
		readCaller: settings.callers && createCallerReader(settings.callers),
		routing: new Routing(settings.routing, settings.providers),
		allowLists: new AllowListResolver(settings.tiers, settings.providers),
		allowListDecisions: allowListCounter(ports.metrics ?? noMetrics),
		providers: new Map(settings.providers.map((provider) => [provider.name, new Provider(provider)])),
		modelCapabilities: new ModelCapabilityResolver(settings),
		configuredModels: configuredModelsOf(settings),
		traffic: new Map(settings.providers.map(({ name, traffic: terms }) => [name, { traffic: ports.traffic.of(name), terms }])),
		timeouts: attemptTimeouts(settings.timeouts),
		work: ports.work ?? new GatewayWork(),
		terms: new TermsResolver(settings.tiers, settings.budgets),
		prices,
		defaultOutputCaps: new DefaultOutputCaps(settings.budgets.defaultOutputCaps),
		guardrailRunner: settings.guardrails === undefined ? undefined : new GuardrailRunner(settings.guardrails, ports),
		warnOfBudgets: budgetWarnings(ports.metrics ?? noMetrics, ports.log, ports.notify),
		exhausted: new ExhaustedBudgets(ports.notify),
		monitored: (ports.metrics ?? noMetrics).counter(
			'tollgate_monitored_total',
			'Requests that policies in monitor mode would have rejected, masked or rerouted, by code.',
			['code'],
		),
		monitoredRoutes: (ports.metrics ?? noMetrics).counter(
			'tollgate_monitored_routes_total',
			'Requests for which a monitored routing rule would have decided, by rule and effect on the first target.',
			['rule', 'target'],
		),
		ownerFailures: (ports.metrics ?? noMetrics).counter(
			'tollgate_response_owner_failures_total',
			'Failed attempts to store the owner of a response. Its ids return 404.',
		),
		requestMetrics: new RequestMetricsByModel(ports.metrics ?? noMetrics, {
			settings,
			prices,
			isRegistered: (team) => ports.teams.team(team) !== undefined,
			nowMs: () => ports.clock.nowMs(),
		}),
	};
}

/** Lists models as `provider/model`. */
export function configuredModelsOf({ providers, routing }: Pick<GatewaySettings, 'providers' | 'routing'>): ReadonlySet<string> {
	const ofProviders = providers.flatMap(({ name, models = [], modelCapabilities = {} }) =>
		[...models, ...Object.keys(modelCapabilities)].map((model) => `${name}/${model}`),
	);
	return new Set([...Object.values(routing.aliases), ...ofProviders]);
}

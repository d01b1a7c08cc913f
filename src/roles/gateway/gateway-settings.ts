import type { Clock } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import type { Metrics } from '../../core/metrics.ts';
import type { Readiness } from '../../core/readiness.ts';
import type { RoutingRule } from '../../core/routing-rule.ts';
import type { Team } from '../../core/team.ts';
import type { Upstream } from '../../core/upstream.ts';
import type { AccessTokenVerifier } from '../../policy/access/access-token-verifier.ts';
import type { TokenHeader } from '../../policy/access/token-headers.ts';
import type { DefaultOutputCapSettings } from '../../policy/budgets/default-output-caps.ts';
import type { PriceRecord, PriceSettings } from '../../policy/budgets/price-book.ts';
import type { ContentScorer } from '../../policy/guardrails/content/content-scorer.ts';
import type { GuardrailSettings } from '../../policy/guardrails/guardrails.ts';
import type { BudgetDefaults, TeamBudget, TierSettings } from '../../policy/limits/team-terms.ts';
import type { ShedReason } from '../../policy/overload/load-shedder.ts';
import type { TrafficTerms } from '../../policy/resilience/traffic-terms.ts';
import type { ProviderModel, RoutedProvider, RoutingSettings } from '../../policy/routing/routing-settings.ts';
import type { AdmissionStore } from '../../stores/contracts/admission.ts';
import type { Ledger } from '../../stores/contracts/ledger.ts';
import type { ModelFacts } from '../../wire/conversation/model-facts.ts';
import type { ProviderKind, ProviderSettings } from '../../wire/providers/provider.ts';
import type { GatewayWork } from './gateway-work.ts';
import type { EngineSettings } from './guardrail-engines/engine-settings.ts';
import type { ProviderTimeouts } from './provider-timeouts.ts';
import type { TrafficBook } from './provider-traffic.ts';
import type { UnpricedModels } from './unpriced-models.ts';

export interface GatewaySettings {
	/** Callers need the scope `<scopeBase>/invoke`. */
	readonly scopeBase: string;
	/** True: a balancer in front has verified the access token, and nothing else can reach this port. */
	readonly trustEdge: boolean;
	/** Header fields in which the access token is looked for where no edge of this process has read it. */
	readonly tokenHeaders: readonly TokenHeader[];
	readonly maxBodyBytes: number;
	/** Of all requests together, as long as they are in flight. */
	readonly maxBufferedRequestBytes: number;
	readonly timeouts: ProviderTimeouts;
	/** A stream that was silent for so long gets a comment. */
	readonly heartbeatMs: number;
	readonly providers: readonly GatewayProvider[];
	readonly routing: RoutingSettings;
	/** What cannot be translated faithfully is refused; else it is dropped with a warning. */
	readonly isTranslationStrict: boolean;
	/** Whether parameters that a model is known to reject are repaired in requests of its own format. Yes, unless given. */
	readonly repairsParameters?: boolean;
	/** By the name of the alias, over what is said of the model that it leads to. */
	readonly aliasFacts?: Readonly<Record<string, ModelFacts>>;
	/** What becomes of a valid caller whose client belongs to no team: its own team of this tier, or a refusal. */
	readonly unregisteredClients: { readonly tier: string } | 'reject';
	/** By name. */
	readonly tiers: Readonly<Record<string, TierSettings>>;
	readonly budgets: BudgetSettings;
	/** None unless given. */
	readonly guardrails?: GuardrailSettings | undefined;
	/** Whether calls are counted by team too. Not unless given. */
	readonly hasTeamMetrics?: boolean;
}

export interface GatewayProvider extends ProviderSettings, RoutedProvider {
	readonly name: string;
	readonly kind: ProviderKind;
	readonly traffic: TrafficTerms;
	/** By the model's name there. */
	readonly modelFacts?: Readonly<Record<string, ModelFacts>>;
}

export interface BudgetSettings extends BudgetDefaults, PriceSettings {
	/** What a call holds of its budgets until its real cost is known. */
	readonly hold: 'estimate' | 'worst_case';
	/** What becomes of a stream that outgrows its hold when the budget allows no more. */
	readonly onStreamOver: 'extend' | 'stop';
	/** How it ends then: by an error event, or as if its output cap were reached. By an error event unless given. */
	readonly stoppedStream?: 'error' | 'length';
	/** Caps for requests that name none. No cap unless given. */
	readonly defaultOutputCaps?: DefaultOutputCapSettings | undefined;
}

/** Everything the gateway needs of the world. */
export interface GatewayPorts {
	readonly upstream: Upstream;
	readonly verifier: AccessTokenVerifier;
	readonly teams: TeamDirectory;
	readonly admission: AdmissionStore;
	readonly ledger: Pick<Ledger, 'open' | 'close' | 'assess'>;
	readonly unpriced: UnpricedModels;
	readonly traffic: TrafficBook;
	/** Content is not judged without one. */
	readonly contentScorer?: ContentScorer | undefined;
	/** Engines that judge texts elsewhere; none unless given. */
	readonly guardrailEngines?: readonly EngineSettings[];
	readonly clock: Clock;
	readonly log: Log;
	/** None unless given. */
	readonly metrics?: Metrics;
	readonly readiness: () => Readiness | Promise<Readiness>;
	/** True from the order to stop, while calls may still be taken. Never unless given. */
	readonly isLeaving?: () => boolean;
	/** Why one more request is to be turned away; undefined when it is to be taken, and always unless given. */
	readonly overload?: (() => ShedReason | undefined) | undefined;
	/** One for all gateways of a process. Its own unless given. */
	readonly work?: GatewayWork;
}

/** Teams, budgets and prices as they are now. */
export interface TeamDirectory {
	teamOf(clientId: string): Team | undefined;
	team(id: string): Team | undefined;
	/**
	 * What a call of the team to the model counts on: the team's own budget, and that of the model's name, else of the name that the price
	 * list has for it.
	 */
	budgetsFor(team: string, model: string, listed?: string): readonly TeamBudget[];
	/** All budgets of the team. */
	budgetsOf(team: string): readonly TeamBudget[];
	priceOverride(provider: string, model: string): PriceRecord | undefined;
	/** Models that have one, by provider. */
	overriddenModels(): readonly ProviderModel[];
	/** Those in force, in the order in which they count. */
	routingRules(): readonly RoutingRule[];
}

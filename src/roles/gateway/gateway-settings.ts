import type { BudgetPolicy } from '../../core/budget.ts';
import type { BudgetedRequest } from '../../core/budget-scope.ts';
import type { Clock } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import type { Metrics } from '../../core/metrics.ts';
import type { Notify } from '../../core/notice.ts';
import type { Readiness } from '../../core/readiness.ts';
import type { RoutingRule } from '../../core/routing-rule.ts';
import type { Team } from '../../core/team.ts';
import type { Upstream } from '../../core/upstream.ts';
import type { AccessTokenVerifier } from '../../policy/access/access-token-verifier.ts';
import type { CallerRules } from '../../policy/access/caller-reader.ts';
import type { TokenHeader } from '../../policy/access/token-headers.ts';
import type { DefaultOutputCapSettings } from '../../policy/budgets/default-output-caps.ts';
import type { PriceRecord, PriceSettings } from '../../policy/budgets/price-resolver.ts';
import type { ContentScorer } from '../../policy/guardrails/content/content-scorer.ts';
import type { GuardrailSettings } from '../../policy/guardrails/guardrails.ts';
import type { BudgetDefaults, TierSettings } from '../../policy/limits/terms-resolver.ts';
import type { ShedReason } from '../../policy/overload/load-shedder.ts';
import type { TrafficSettings } from '../../policy/resilience/traffic-settings.ts';
import type { ProviderModel, RoutedProvider, RoutingSettings } from '../../policy/routing/routing-settings.ts';
import type { AdmissionStore } from '../../stores/contracts/admission.ts';
import type { Ledger } from '../../stores/contracts/ledger.ts';
import type { ResponseOwners } from '../../stores/contracts/response-owners.ts';
import type { ModelCapabilities } from '../../wire/conversation/model-capabilities.ts';
import type { ReasoningEncryption } from '../../wire/conversation/reasoning-encryption.ts';
import type { StateMode } from '../../wire/dialects/state.ts';
import type { ProviderKind, ProviderSettings } from '../../wire/providers/provider.ts';
import type { GatewayWork } from './gateway-work.ts';
import type { ModerationProviderSettings } from './moderation/moderation-settings.ts';
import type { ProviderTimeouts } from './provider-timeouts.ts';
import type { TrafficResolver } from './traffic-resolver.ts';
import type { UnpricedModels } from './unpriced-models.ts';

export interface GatewaySettings {
	/** Clients need the scope `<scopeBase>/invoke`. */
	readonly scopeBase: string;
	/** True: a load balancer in front has verified the access token, and nothing else can reach this port. */
	readonly trustEdge: boolean;
	/** Derivation of callers from claims, for access tokens that a trusted balancer has verified. Default: as claimed. */
	readonly callers?: CallerRules;
	/** Header fields that may contain the access token, if no edge of this process has read it. */
	readonly tokenHeaders: readonly TokenHeader[];
	/** Claims of trusted access tokens that are attributes, by the name of the attribute. */
	readonly attributesFromClaims?: Readonly<Record<string, string>>;
	/** True for a client of the configuration that may set attributes, by client id. Clients of the admin API have records. */
	readonly clientAttributes?: Readonly<Record<string, boolean>>;
	readonly maxBodyBytes: number;
	/** Memory budget for the bodies of all in-flight requests together. */
	readonly maxBufferedRequestBytes: number;
	readonly timeouts: ProviderTimeouts;
	/** Idle time after which a stream gets a comment. */
	readonly heartbeatMs: number;
	readonly providers: readonly GatewayProvider[];
	readonly routing: RoutingSettings;
	/** True: fields that cannot be translated faithfully are rejected. False: they are dropped with a warning. */
	readonly isTranslationStrict: boolean;
	/** True: parameters that a model is known to reject are repaired in requests of its own format. Default true. */
	readonly repairsParameters?: boolean;
	/** Capabilities by alias, which override those of the model behind it. */
	readonly aliasCapabilities?: Readonly<Record<string, ModelCapabilities>>;
	/** Tier in which an unregistered client is its own team, or `reject`. */
	readonly unregisteredClients: { readonly tier: string } | 'reject';
	readonly tiers: Readonly<Record<string, TierSettings>>;
	readonly budgets: BudgetSettings;
	/** State of the Responses API at providers. Off by default. */
	readonly responses?: ResponseSettings;
	/** No guardrails by default. */
	readonly guardrails?: GuardrailSettings | undefined;
	/** True: metrics have a team label. Default false. */
	readonly hasTeamMetrics?: boolean;
}

export interface ResponseSettings {
	readonly state: StateMode;
	/** Time for which the owner of an id is stored. */
	readonly retentionMs: number;
	/** Maximum number of background responses that a process follows. Default 500. */
	readonly maxBackground?: number;
}

export interface GatewayProvider extends ProviderSettings, RoutedProvider {
	readonly name: string;
	readonly kind: ProviderKind;
	readonly traffic: TrafficSettings;
	/** Capabilities by the model's name at the provider. */
	readonly modelCapabilities?: Readonly<Record<string, ModelCapabilities>>;
}

export interface BudgetSettings extends BudgetDefaults, PriceSettings {
	/** Amount reserved in budgets until the actual cost is known. */
	readonly reservation: 'estimate' | 'worst_case';
	/** Action for a stream that exceeds its reservation when the budget is exhausted. */
	readonly onStreamOver: 'extend' | 'stop';
	/** End of a stopped stream: an error event, or like a reached output cap. Default `error`. */
	readonly stoppedStream?: 'error' | 'length';
	/** Caps for requests without one. No cap by default. */
	readonly defaultOutputCaps?: DefaultOutputCapSettings | undefined;
}

/** Dependencies of the gateway. */
export interface GatewayPorts {
	readonly upstream: Upstream;
	readonly verifier: AccessTokenVerifier;
	readonly teams: TeamDirectory;
	/** Returns the encryption of signed reasoning of a provider. @param secret known to all gateways that send to the provider. */
	readonly reasoningEncryption: (secret: string, team: string) => ReasoningEncryption;
	readonly admission: AdmissionStore;
	readonly ledger: Pick<Ledger, 'open' | 'close' | 'assess'>;
	readonly responseOwners: ResponseOwners;
	readonly unpriced: UnpricedModels;
	readonly traffic: TrafficResolver;
	/** Content is not scored without it. */
	readonly contentScorer?: ContentScorer | undefined;
	/** External moderation providers; none by default. */
	readonly moderationProviders?: readonly ModerationProviderSettings[];
	readonly clock: Clock;
	readonly log: Log;
	/** Takes notices of budgets. Ignored by default. */
	readonly notify?: Notify;
	/** No metrics by default. */
	readonly metrics?: Metrics;
	readonly readiness: () => Readiness | Promise<Readiness>;
	/** True from the start of the shutdown, while requests are still accepted. Default: never. */
	readonly isShuttingDown?: () => boolean;
	/** Returns the reason to shed one more request; undefined to accept it, which is the default. */
	readonly overload?: (() => ShedReason | undefined) | undefined;
	/** Shared by all gateways of a process. Created by default. */
	readonly work?: GatewayWork;
}

/** Current teams, budgets and prices. */
export interface TeamDirectory {
	teamOf(clientId: string): Team | undefined;
	team(id: string): Team | undefined;
	/** Returns true for a registered client that may set attributes. */
	canSetAttributes(clientId: string): boolean;
	/** Returns the budgets that a request of the team counts toward, those of all models first. */
	budgetsFor(team: string, request: BudgetedRequest): readonly BudgetPolicy[];
	budgetsOf(team: string): readonly BudgetPolicy[];
	priceOverride(provider: string, model: string): PriceRecord | undefined;
	/** Models with a price override, by provider. */
	overriddenModels(): readonly ProviderModel[];
	/** Enforced rules, in order of precedence. */
	routingRules(): readonly RoutingRule[];
	/** Enforced and monitored rules, in order of precedence; empty if no rule is monitored. */
	routingRulesWithMonitored(): readonly RoutingRule[];
}

import type { ProviderFacts } from '../../core/allow-lists.ts';
import type { Clock } from '../../core/clock.ts';
import type { BudgetPeriod } from '../../core/counters.ts';
import type { ClientDialectName } from '../../core/dialect-name.ts';
import type { ProviderReport } from '../../core/health-report.ts';
import type { Log } from '../../core/log.ts';
import type { NoticeEvent } from '../../core/notice.ts';
import type { Team } from '../../core/team.ts';
import type { AccessTokenVerifier } from '../../policy/access/access-token-verifier.ts';
import type { TierSettings } from '../../policy/limits/terms-resolver.ts';
import type { AdmissionStore } from '../../stores/contracts/admission.ts';
import type { LedgerReader } from '../../stores/contracts/ledger.ts';
import type { RecordStore } from '../../stores/contracts/records.ts';
import type { RequestRecordReader } from '../../stores/contracts/request-records.ts';
import type { DeliveryPage, DeliveryQuery } from '../../stores/contracts/webhook-deliveries.ts';
import type { ConfigClient } from './schemas/client.ts';

/** Settings of the admin API. They can change with the configuration, so each is read when it is used. */
export interface AdminSettings {
	/** Port 0 selects a free one. */
	readonly listen: { readonly host: string; readonly port: number };
	/** Clients need the scope `<scopeBase>/admin`. */
	readonly scopeBase: string;
	/** The `iss` of the embedded identity, whose clients come from the records and the configuration. */
	readonly embeddedIssuer: string;
	/** True if `GET /metrics` needs no access token. */
	readonly hasOpenMetrics: boolean;
	/** Product version, for the OpenAPI document. */
	readonly version: string;
	/** Rate limit per client and UTC minute. */
	readonly maxRequestsPerMinute: number;
	/** Rate limit per source address and UTC minute, for requests without a valid token. */
	readonly maxUnauthenticatedPerMinute: number;
	/** Maximum time for in-flight requests to finish after `stop`. */
	readonly graceMs: number;
	/** Addresses and ranges of proxies whose `x-forwarded-for` is trusted. */
	readonly trustedProxies: readonly string[];
	/** 500 by default, which is also the maximum. */
	readonly maxConnections?: number | undefined;
	/** Maximum time for a whole request to arrive; 15 s by default. */
	readonly requestTimeoutMs?: number;
}

/** Records of the running configuration. They are read for every request, so that a reload applies at once. */
export interface ConfiguredRecords {
	readonly tiers: Readonly<Record<string, TierSettings>>;
	/** Defaults of budgets that set no percentages, and of those that a tier defines. */
	readonly budgetDefaults: { readonly warningThresholdPercent: number; readonly hardLimitPercent: number };
	/** Tier in which an unregistered client is its own team, or `reject`. */
	readonly unregisteredClients: { readonly tier: string } | 'reject';
	/** Teams of the configuration, which override stored ones and cannot be changed here. */
	readonly configTeams: readonly Team[];
	/** Clients of the configuration, which override stored ones and cannot be changed here. */
	readonly configClients: readonly ConfigClient[];
	readonly providers: readonly AdminProvider[];
}

export interface AdminProvider {
	readonly name: string;
	readonly kind: string;
	readonly facts?: ProviderFacts;
	/** False if the key is the placeholder. */
	readonly isConfigured: boolean;
	/** @returns the model behind a deployment that the configuration names; otherwise the name as given. */
	vendorModel(model: string): string;
}

export interface ExplainedClient {
	readonly clientId: string;
	/** Scopes without the base; undefined for a client that only another issuer knows. */
	readonly scopeNames?: readonly string[] | undefined;
}

/** A request that is only explained, never sent. */
export interface ExplainedRequest {
	readonly of: ExplainedClient | { readonly team: string } | { readonly accessToken: string };
	readonly format: ClientDialectName;
	readonly body: Buffer;
	/** Header fields by lower-case name. */
	readonly headers: Readonly<Record<string, string>>;
}

export interface ReplayRequest {
	/** Changes to the running configuration, not yet validated. */
	readonly configPatch: Readonly<Record<string, unknown>>;
	/** Bounds of the requests' start in Unix milliseconds, inclusive and exclusive. */
	readonly fromMs: number;
	readonly toMs: number;
}

/** Reads the metrics in the scrape format. */
export type ReadMetrics = () => Promise<{ readonly contentType: string; readonly text: string }>;

export interface AdminWebhook {
	readonly name: string;
	readonly url: string;
	readonly events: readonly NoticeEvent[];
	readonly canReachPrivateNetwork: boolean;
}

/** Result of a test event. */
export interface WebhookTest {
	readonly eventId: string;
	/** HTTP status; null without a response. */
	readonly status: number | null;
	/** Null if the receiver accepted it. */
	readonly error: string | null;
	readonly durationMs: number;
}

export interface AdminWebhooks {
	readonly webhooks: readonly AdminWebhook[];
	/** Lists deliveries. @throws RangeError for a cursor that no page returned. */
	list(query: DeliveryQuery): Promise<DeliveryPage>;
	/** Sends a test event. @returns undefined for an unknown webhook. */
	test(name: string): Promise<WebhookTest | undefined>;
}

export interface AdminPorts {
	readonly records: Pick<RecordStore, 'clients' | 'teams' | 'budgets' | 'priceOverrides' | 'routingRules' | 'audit' | 'onChange'>;
	readonly ledger: Pick<LedgerReader, 'summarize' | 'sumCosts' | 'list' | 'listAssessments' | 'verdictsOf'>;
	readonly requestRecords: Pick<RequestRecordReader, 'list' | 'find'>;
	/** Undefined in a process that cannot reach the counters, where spend is computed from the ledger. */
	readonly admission: Pick<AdmissionStore, 'read'> | undefined;
	/** Computes budget counters from the ledger, in the order given. Requests for a model count under all of its names. */
	readonly sumUpSpent: (team: string, budgets: readonly BudgetPeriod[]) => Promise<readonly bigint[]>;
	readonly verifier: AccessTokenVerifier;
	readonly configured: () => ConfiguredRecords;
	/** Reads the provider reports of each process that serves requests. */
	readonly providerReports: () => Promise<readonly ProviderReport[]>;
	/** Returns the running configuration without its secrets. */
	readonly effectiveConfig: () => Readonly<Record<string, unknown>>;
	readonly metrics: ReadMetrics;
	readonly webhooks: AdminWebhooks;
	/** Explains how a request would be handled, without side effects. @returns the schema `Explanation` of the API's document. */
	readonly explain: (request: ExplainedRequest) => Promise<object>;
	/**
	 * Decides recorded requests under a changed configuration, without side effects. @returns the schema `ReplayResult` of the API's document.
	 * @throws FieldsRejection; `Rejection` `replay_running`, `replay_too_large`.
	 */
	readonly replay: (request: ReplayRequest) => Promise<object>;
	/** Models without a price in requests to this process, rejected ones included. */
	readonly unpricedModels: () => readonly { readonly provider: string; readonly model: string }[];
	/** Returns the known name that was probably meant. */
	readonly nearestName: (name: string, known: Iterable<string>) => string | undefined;
	readonly clock: Clock;
	readonly log: Log;
	/** Resolves once earlier changes apply to requests of this process. */
	readonly changesApplied: () => Promise<void>;
	/** Generates request ids. */
	readonly newId: () => string;
}

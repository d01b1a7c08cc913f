import type { Clock } from '../../core/clock.ts';
import type { BudgetPeriod } from '../../core/counters.ts';
import type { ClientDialectName } from '../../core/dialect-name.ts';
import type { ProviderReport } from '../../core/health-report.ts';
import type { Log } from '../../core/log.ts';
import type { Team } from '../../core/team.ts';
import type { AccessTokenVerifier } from '../../policy/access/access-token-verifier.ts';
import type { TierSettings } from '../../policy/limits/team-terms.ts';
import type { AdmissionStore } from '../../stores/contracts/admission.ts';
import type { LedgerReader } from '../../stores/contracts/ledger.ts';
import type { RecordStore } from '../../stores/contracts/records.ts';
import type { PinnedClient } from './schemas/client.ts';

/** Members may change with the configuration: they are read when they count. */
export interface AdminSettings {
	/** Port 0 takes a free one. */
	readonly listen: { readonly host: string; readonly port: number };
	/** Callers need the scope `<scopeBase>/admin`. */
	readonly scopeBase: string;
	/** The `iss` of the embedded identity, whose clients are those of the records and of the configuration. */
	readonly ownIssuer: string;
	/** Whether figures are shown without an access token. */
	readonly hasOpenMetrics: boolean;
	/** Of the product, for the OpenAPI document. */
	readonly version: string;
	/** Requests that one client may make in a UTC minute. */
	readonly maxRequestsPerMinute: number;
	/** Requests without a token that counts that one source address may make in a UTC minute. */
	readonly maxUnauthenticatedPerMinute: number;
	/** How long requests in flight may go on after `stop`. */
	readonly graceMs: number;
	/** Addresses and ranges of proxies whose `x-forwarded-for` is believed. */
	readonly trustedProxies: readonly string[];
	/** 500 unless given, and at most. */
	readonly maxConnections?: number | undefined;
	/** How long a whole request may take to arrive; 15 s unless given. */
	readonly requestTimeoutMs?: number;
}

/** What the configuration in force says; asked anew for every request, so that a reload counts at once. */
export interface ConfiguredRecords {
	/** By name. */
	readonly tiers: Readonly<Record<string, TierSettings>>;
	/** Of budgets that do not say, and of those that a tier gives. */
	readonly budgetDefaults: { readonly warningThresholdPercent: number; readonly hardLimitPercent: number };
	/** What becomes of a client that belongs to no team: it is its own team of this tier, or is refused. */
	readonly unregisteredClients: { readonly tier: string } | 'reject';
	/** They win over stored ones and cannot be changed here. */
	readonly pinnedTeams: readonly Team[];
	/** They win over stored ones and cannot be changed here. */
	readonly pinnedClients: readonly PinnedClient[];
	readonly providers: readonly AdminProvider[];
}

export interface AdminProvider {
	readonly name: string;
	readonly kind: string;
	/** False: its key is the placeholder. */
	readonly isConfigured: boolean;
	/** @returns the model behind a deployment, where the configuration names it; else the name as given. */
	vendorModel(model: string): string;
}

/** A call that nobody makes. */
export interface ExplainedRequest {
	readonly of: { readonly clientId: string } | { readonly team: string } | { readonly accessToken: string };
	readonly format: ClientDialectName;
	readonly body: Buffer;
	/** By lower-case name. */
	readonly headers: Readonly<Record<string, string>>;
}

/** Figures in the text that scrapers read. */
export type ReadMetrics = () => Promise<{ readonly contentType: string; readonly text: string }>;

export interface AdminPorts {
	readonly records: Pick<RecordStore, 'clients' | 'teams' | 'budgets' | 'priceOverrides' | 'routingRules' | 'audit' | 'onChange'>;
	readonly ledger: Pick<LedgerReader, 'summarize' | 'sumCosts' | 'list' | 'listAssessments' | 'verdictsOf'>;
	/** Undefined in a process that cannot reach the counters: what was spent is then summed up from the ledger. */
	readonly admission: Pick<AdmissionStore, 'read'> | undefined;
	/** What counters of budgets should say, summed up from the ledger: calls of a model count under all of its names. In the order asked. */
	readonly sumUpSpent: (team: string, budgets: readonly BudgetPeriod[]) => Promise<readonly bigint[]>;
	readonly verifier: AccessTokenVerifier;
	readonly configured: () => ConfiguredRecords;
	/** What each process that serves calls knows of its providers. */
	readonly providerReports: () => Promise<readonly ProviderReport[]>;
	/** The configuration in force as it may be shown. */
	readonly effectiveConfig: () => Readonly<Record<string, unknown>>;
	readonly metrics: ReadMetrics;
	/** What would become of a call; has no effect. @returns what `Explanation` in the API's document describes. */
	readonly explain: (request: ExplainedRequest) => Promise<object>;
	/** Models that this process met without a price, those that were refused for it included. */
	readonly unpricedModels: () => readonly { readonly provider: string; readonly model: string }[];
	/** The known name that was probably meant. */
	readonly nearestName: (name: string, known: Iterable<string>) => string | undefined;
	readonly clock: Clock;
	readonly log: Log;
	/** Resolves when calls of this process meet what was changed before. */
	readonly changesApplied: () => Promise<void>;
	/** Ids of requests. */
	readonly newId: () => string;
}

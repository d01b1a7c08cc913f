/** Admin role alone: on a free port, with real stores in memory and an optional clock of the test. */
import { randomUUID } from 'node:crypto';
import { spentBy, sumUpFrom } from '../../src/composition/accounting.ts';
import { gatewaySettings } from '../../src/composition/settings.ts';
import { parseConfig } from '../../src/config/load.ts';
import type { Caller } from '../../src/core/caller.ts';
import type { Clock } from '../../src/core/clock.ts';
import { noMetrics } from '../../src/core/metrics.ts';
import { nearestName } from '../../src/core/nearest-name.ts';
import { Rejection } from '../../src/core/rejection.ts';
import { UpstreamError } from '../../src/core/upstream-error.ts';
import { noUsage, type Usage } from '../../src/core/usage.ts';
import type { AccessTokenVerifier } from '../../src/policy/access/access-token-verifier.ts';
import { type Admin, createAdmin } from '../../src/roles/admin/admin.ts';
import type { AdminPorts, AdminSettings, ConfiguredRecords } from '../../src/roles/admin/admin-settings.ts';
import { createExplainer } from '../../src/roles/gateway/explain-request.ts';
import { ReplayReport } from '../../src/roles/gateway/replay/replay-report.ts';
import { WebhookDispatcher } from '../../src/roles/webhooks/webhook-dispatcher.ts';
import type { WebhookSettings } from '../../src/roles/webhooks/webhook-settings.ts';
import type { Ledger } from '../../src/stores/contracts/ledger.ts';
import type { RecordStore } from '../../src/stores/contracts/records.ts';
import type { RequestRecords } from '../../src/stores/contracts/request-records.ts';
import { openRecordsSnapshot } from '../../src/stores/records-snapshot.ts';
import { noReasoningEncryption } from '../../src/wire/conversation/reasoning-encryption.ts';
import { type AdminDocument, type AdminResponse, type JsonBody, readAdminDocument } from './admin-document.ts';
import { closeEntry } from './close-entry.ts';
import { ManualClock } from './manual-clock.ts';
import { createMemoryLedger } from './memory-ledger.ts';
import { createMemoryRecords } from './memory-records.ts';
import { createMemoryRequestRecords } from './memory-request-records.ts';
import { createRecordingLog, type RecordingLog } from './recording-log.ts';

export const adminStartMs = Date.UTC(2026, 10, 21, 12, 0, 5);

const reported = { model: 'm', remaining: 0, reportedAtMs: adminStartMs };
const rateLimits = [
	{ ...reported, kind: 'requests', limit: 50, resetsAtMs: adminStartMs },
	{ ...reported, kind: 'retry_after', limit: null, resetsAtMs: null },
] as const;

/** Access tokens that the verifier accepts, with their scopes. `as~NAME+NAME` is a token with these scopes. */
const accessTokens: Readonly<Record<string, readonly string[]>> = {
	root: ['tollgate/admin'],
	other: ['tollgate/admin', 'tollgate/invoke'],
	agent: ['tollgate/invoke'],
	near: ['tollgate/administrator', 'xtollgate/admin', 'TOLLGATE/ADMIN'],
	none: [],
};

function scopesIn(accessToken: string): readonly string[] | undefined {
	if (!accessToken.startsWith('as~')) return undefined;
	return accessToken
		.slice(3)
		.split('+')
		.map((name) => `tollgate/${name}`);
}

const verifier: AccessTokenVerifier = {
	verify(accessToken) {
		if (accessToken === 'unjudged') throw new UpstreamError('key_set_unavailable');
		const scopes = Object.hasOwn(accessTokens, accessToken) ? accessTokens[accessToken] : scopesIn(accessToken);
		if (scopes === undefined) throw new Rejection('token_invalid');
		return {
			clientId: accessToken,
			issuer: 'https://issuer.example',
			scopes: new Set(scopes),
			expiresAtSeconds: 2 ** 40,
		} as unknown as Caller;
	},
};

/** Name without a date, under which the price list has a dated model. */
const undated = ({ model }: { readonly model: string }): string => model.replace(/-\d{4}-\d{2}-\d{2}$/, '');

const vendorModel = (model: string): string => model;

export const configuredRecords: ConfiguredRecords = {
	tiers: {
		sandbox: { requestsPerMinute: 20, dailyTokens: 100_000, monthlyBudgetUsd: '25' },
		standard: { requestsPerMinute: 100, dailyTokens: 1_000_000, monthlyBudgetUsd: '100' },
		enterprise: { requestsPerMinute: null, dailyTokens: null, monthlyBudgetUsd: null },
	},
	budgetDefaults: { warningThresholdPercent: 80, hardLimitPercent: 100 },
	unregisteredClients: { tier: 'sandbox' },
	configTeams: [{ id: 'pinned', name: 'Pinned', tier: 'standard', clientIds: ['pinned-client'] }],
	configClients: [{ id: 'pinned-client', name: 'Pinned client', scopes: ['invoke'], canSetAttributes: false }],
	providers: [
		{ name: 'provider_a', kind: 'anthropic', isConfigured: true, vendorModel },
		{ name: 'provider_b', kind: 'openai', isConfigured: false, vendorModel },
		{ name: 'local', kind: 'openai-compatible', facts: { region: 'eu' }, isConfigured: true, vendorModel },
	],
};

const adminWebhooks: readonly WebhookSettings[] = [
	{
		name: 'red',
		url: 'https://hooks.example.com/tollgate',
		secret: 'secret-of-the-webhook',
		events: ['budget.warning'],
		canReachPrivateNetwork: false,
		credentialExpiryMs: 1,
		minAnomalyNanoUsd: 0n,
	},
];

export interface AdminSubject {
	readonly admin: Admin;
	readonly baseUrl: string;
	readonly records: RecordStore;
	readonly ledger: Ledger;
	readonly requestRecords: RequestRecords;
	readonly clock: ManualClock;
	readonly log: RecordingLog;
	/**
	 * Sends a request as the client `root` by default, and validates the response against the OpenAPI document. An object is sent as JSON, a
	 * string or bytes unchanged.
	 */
	send(method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<AdminResponse>;
	/** Writes a completed request into the ledger, with the current time. */
	book(call: SettledRequest): Promise<void>;
	/** Contents of all stores, to compare. */
	state(): Promise<string>;
	stop(): Promise<void>;
}

export interface SettledRequest {
	readonly id?: string;
	readonly priceVersion?: string;
	readonly team?: string;
	readonly clientId?: string;
	readonly provider?: string;
	readonly model?: string;
	readonly usage?: Partial<Usage>;
	readonly costNanoUsd?: bigint;
	readonly startedMs?: number;
	readonly isRunning?: boolean;
	readonly isEstimated?: boolean;
	readonly endpoint?: string;
	readonly attributes?: string;
}

export async function startAdmin(
	settings: Partial<AdminSettings> = {},
	ports: Partial<AdminPorts> & { clock?: Clock } = {},
): Promise<AdminSubject> {
	const records = createMemoryRecords();
	const ledger = createMemoryLedger();
	const requestRecords = createMemoryRequestRecords();
	const clock = new ManualClock(adminStartMs);
	const log = createRecordingLog();
	const snapshot = await openRecordsSnapshot(records, configuredRecords.configTeams, { clock, log });
	const explain = createExplainer(gatewaySettings(parseConfig('', { file: null, env: {} }).config), {
		teams: snapshot,
		readCounters: async () => ({ nowMs: clock.nowMs(), requestsThisMinute: 0, tokensToday: 0, reservedTokens: 0, rates: [], budgets: [] }),
		responseOwners: records.responseOwners,
		verifier,
		trafficOf: undefined,
		reasoningEncryption: () => noReasoningEncryption,
		clock,
	});
	const usual: AdminSettings = {
		listen: { host: '127.0.0.1', port: 0 },
		scopeBase: 'tollgate',
		embeddedIssuer: 'https://identity.example',
		hasOpenMetrics: true,
		version: '0.0.0',
		maxRequestsPerMinute: 1_000_000,
		maxUnauthenticatedPerMinute: 1_000_000,
		graceMs: 1000,
		trustedProxies: [],
	};
	const admin = createAdmin(
		// Property descriptors, because a test's settings may have getters that change during the test.
		Object.defineProperties(usual, Object.getOwnPropertyDescriptors(settings)),
		{
			records,
			ledger,
			requestRecords,
			admission: undefined,
			sumUpSpent: spentBy(sumUpFrom(ledger, snapshot, { clock, listing: () => undated }), clock),
			verifier,
			configured: () => configuredRecords,
			providerReports: async () => [{ provider_a: { state: 'healthy', sinceMs: adminStartMs, detail: null, rateLimits } }],
			effectiveConfig: () => ({ enable_admin_api: true, providers: { provider_a: { api_key: '***' } } }),
			explain: (request) => explain(request),
			replay: async () => new ReplayReport().result,
			unpricedModels: () => [],
			webhooks: new WebhookDispatcher(adminWebhooks, {
				upstream: () => Promise.reject(new UpstreamError('provider_unreachable')),
				deliveries: records.webhookDeliveries,
				clock,
				log,
				metrics: noMetrics,
				chance: () => 0,
				newId: randomUUID,
			}),
			changesApplied: async () => undefined,
			metrics: () => Promise.resolve({ contentType: 'text/plain; version=0.0.4; charset=utf-8', text: '# none\n' }),
			nearestName,
			clock,
			log,
			newId: randomUUID,
			...ports,
		},
	);
	await admin.start();
	const baseUrl = `http://127.0.0.1:${admin.address?.port}`;
	return {
		admin,
		baseUrl,
		records,
		ledger,
		requestRecords,
		clock,
		log,
		async send(method, path, body, headers = {}) {
			const response = await fetch(baseUrl + path, {
				method,
				headers: { authorization: 'Bearer root', ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
				...(body !== undefined && { body: typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body) }),
			});
			const text = await response.text();
			const httpResponse = { status: response.status, headers: response.headers, text, body: jsonOf(text) };
			(await documentOf(baseUrl, settings.hasOpenMetrics !== false)).check(method, path, httpResponse);
			return httpResponse;
		},
		async book({ id = randomUUID(), team = 'red', clientId = 'agent', provider = 'provider_b', model = 'gpt-4o-mini', ...call }) {
			const startedMs = call.startedMs ?? clock.nowMs();
			const row = { id, startedMs, team, clientId, provider, model, dialect: 'chat', isStreaming: false };
			const { priceVersion = 'default:2026-11-21', endpoint = '/v1/chat/completions', attributes = '' } = call;
			await ledger.open({ ...row, priceVersion, reservedNanoUsd: 0n, budgets: [], endpoint, attributes });
			if (call.isRunning === true) return;
			const usage = { ...noUsage, ...call.usage };
			const costNanoUsd = call.costNanoUsd ?? 0n;
			const end = { outcome: 'complete', status: 200, isEstimated: call.isEstimated ?? false } as const;
			await closeEntry(ledger, { id, endedMs: startedMs + 1500, usage, costNanoUsd, ...end });
		},
		async state() {
			const all = await Promise.all([
				records.teams.list(),
				records.budgets.list(),
				records.priceOverrides.list(),
				records.routingRules.list(),
				records.clients.list(),
				records.audit.list({ limit: 1000 }),
			]);
			return JSON.stringify(all, (_, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value));
		},
		stop: () => admin.stop(),
	};
}

function jsonOf(text: string): JsonBody {
	try {
		return JSON.parse(text) as JsonBody;
	} catch {
		return {};
	}
}

const documents = new Map<boolean, Promise<AdminDocument>>();

/** Caches the documents of all subjects in the process. */
function documentOf(baseUrl: string, hasOpenMetrics: boolean): Promise<AdminDocument> {
	let document = documents.get(hasOpenMetrics);
	if (document === undefined) {
		document = readAdminDocument(baseUrl);
		documents.set(hasOpenMetrics, document);
	}
	return document;
}

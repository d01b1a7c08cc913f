/** The admin API for commands: that of a running product, or the same operations over the stores of a configuration. */
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { openRemoteAdmin } from '../cli/admin/remote-admin.ts';
import { CommandFailure } from '../cli/command-failure.ts';
import type { AdminApi, AdminOptions } from '../cli/environment.ts';
import type { Environment } from '../config/defaults.ts';
import { redactedConfig } from '../config/redacted-config.ts';
import type { Config } from '../config/schema.ts';
import type { Log } from '../core/log.ts';
import { silentLog } from '../core/log.ts';
import { noMetrics } from '../core/metrics.ts';
import { nearestName } from '../core/nearest-name.ts';
import { createReasoningEncryption } from '../io/reasoning-encryption.ts';
import { systemClock } from '../io/system-clock.ts';
import { createTrustedAccess } from '../roles/admin/access.ts';
import { createLocalAdmin } from '../roles/admin/admin.ts';
import type { ExplainedRequest } from '../roles/admin/admin-settings.ts';
import { createExplainer } from '../roles/gateway/explain-request.ts';
import { WebhookDispatcher } from '../roles/webhooks/webhook-dispatcher.ts';
import type { LedgerReader } from '../stores/contracts/ledger.ts';
import type { RecordStore } from '../stores/contracts/records.ts';
import type { RequestRecordReader } from '../stores/contracts/request-records.ts';
import { createMemoryAdmission } from '../stores/memory/memory-admission.ts';
import { openRecordsSnapshot, type RecordsSnapshot } from '../stores/records-snapshot.ts';
import { restoreMissing, type SumUpTeam } from '../stores/restoring-admission.ts';
import { spentBy, sumUpFrom } from './accounting.ts';
import { configuredRecords } from './admin-component.ts';
import { loadRunningConfig } from './demo-mark.ts';
import { explainedModerationProviders } from './explainer.ts';
import { contentScorerFor } from './guardrail-component.ts';
import { listModels } from './listed-models.ts';
import { openLedgerReader, openRecords, openRequestRecordReader } from './open-stores.ts';
import { createReplayer } from './replayer.ts';
import { configuredTeams, gatewaySettings, webhookSettings } from './settings.ts';
import { createWebhookClient } from './webhooks.ts';

/**
 * An address, from the options or `TOLLGATE_ADMIN_URL`, takes precedence. A running product may use the same stores: every change is one
 * transaction on versioned records, and the product picks it up within a second.
 * @throws CommandFailure 1 if there is neither an address nor a store; ConfigError; StoreUnusable.
 */
export async function openAdmin({ url, configPath, canCreate = false }: AdminOptions, env: Environment): Promise<AdminApi> {
	const address = url ?? (env['TOLLGATE_ADMIN_URL'] || undefined);
	if (address !== undefined) return openRemoteAdmin(address, env);
	const { config, file } = loadRunningConfig({ configPath, env });
	if (!canCreate && file === null && config.stores.records === 'sqlite' && !existsSync(config.data_dir)) {
		throw new CommandFailure(
			1,
			`no data directory ${config.data_dir} here: set --url or TOLLGATE_ADMIN_URL for a running admin API, or --config`,
		);
	}
	return openStores(config);
}

async function openStores(config: Config): Promise<AdminApi> {
	let internalError: Error | undefined;
	const log: Log = { ...silentLog, error: (_event, fields) => (internalError = errorOf(fields?.['cause'])) };
	const deps = { clock: systemClock, log };
	const records = await openRecords(config, deps);
	const ledger = readWhenNeeded(() => openLedgerReader(config, deps));
	const requestRecords = recordsWhenNeeded(() => openRequestRecordReader(config));
	const { dispatcher, closeClient } = openDispatcher(config, records);
	const configured = configuredRecords(config);
	const rendered = redactedConfig(config);
	const admin = createLocalAdmin(createTrustedAccess('cli'), {
		records,
		ledger,
		requestRecords,
		admission: undefined,
		sumUpSpent: async (team, budgets) =>
			withSnapshot(config, records, (snapshot) => spentBy(sumUpLocally(config, ledger, snapshot), systemClock)(team, budgets)),
		configured: () => configured,
		providerReports: async () => [...(await records.providerReports.read()).values()],
		effectiveConfig: () => rendered,
		explain: (request) => explainLocally(config, records, ledger, request),
		replay: createReplayer(() => config, { records, ledger, requestRecords, clock: systemClock }),
		unpricedModels: () => [],
		webhooks: dispatcher,
		changesApplied: async () => undefined,
		nearestName: (name, known) => nearestName(name, [...known]),
		newId: randomUUID,
		...deps,
	});
	return {
		name: 'the store',
		async request({ method, path, headers = {}, body }) {
			const response = await admin.request({
				method,
				path,
				headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
				...(body !== undefined && { body: JSON.stringify(body) }),
			});
			// Thrown, because a command has no log.
			if (response.status >= 500 && internalError !== undefined) throw internalError;
			return response;
		},
		async close() {
			await admin.close();
			await dispatcher.stop();
			closeClient();
			await ledger.end();
			await requestRecords.end();
			await records.close();
		},
	};
}

/** Lists and tests webhooks. Pending deliveries wait for the next server. */
function openDispatcher(config: Config, { webhookDeliveries: deliveries }: RecordStore) {
	const parts = { clock: systemClock, log: silentLog };
	const client = createWebhookClient(config, parts);
	const dispatcher = new WebhookDispatcher(webhookSettings(config), {
		...parts,
		upstream: client.send,
		deliveries,
		metrics: noMetrics,
		chance: Math.random,
		newId: randomUUID,
	});
	return { dispatcher, closeClient: () => client.close() };
}

function errorOf(cause: unknown): Error | undefined {
	return cause instanceof Error ? cause : undefined;
}

/** Explains from the records and the ledger. Only gateways know this minute's counters and the open reservations. */
async function explainLocally(
	config: Config,
	store: RecordStore,
	ledger: Pick<LedgerReader, 'readTeam'>,
	request: ExplainedRequest,
): Promise<object> {
	return withSnapshot(config, store, async (records) => {
		const clock = systemClock;
		const sumUp = sumUpLocally(config, ledger, records);
		const counters = restoreMissing(createMemoryAdmission({ clock }), { clock, sumUp, endedSinceMs: () => clock.nowMs() });
		const verifier = {
			verify(): never {
				throw new CommandFailure(1, 'an access token can be verified only by a running admin API: set --url or TOLLGATE_ADMIN_URL');
			},
		};
		const explain = createExplainer(gatewaySettings(config), {
			teams: records,
			readCounters: (team, budgets, limits) => counters.read(team, budgets, limits),
			responseOwners: store.responseOwners,
			verifier,
			trafficOf: undefined,
			contentScorerFor,
			reasoningEncryption: createReasoningEncryption(),
			moderationProviders: explainedModerationProviders(config),
			clock,
		});
		return explain(request);
	});
}

function sumUpLocally(config: Config, ledger: Pick<LedgerReader, 'readTeam'>, records: RecordsSnapshot): SumUpTeam {
	return sumUpFrom(ledger, records, { clock: systemClock, listing: () => listModels(config) });
}

async function withSnapshot<Result>(
	config: Config,
	store: RecordStore,
	work: (records: RecordsSnapshot) => Promise<Result>,
): Promise<Result> {
	const records = await openRecordsSnapshot(store, configuredTeams(config), { clock: systemClock, log: silentLog });
	try {
		return await work(records);
	} finally {
		records.close();
	}
}

/** Opens the ledger at its first use: few commands need it, and it takes a thread or a connection. */
function readWhenNeeded(
	open: () => Promise<LedgerReader>,
): Pick<LedgerReader, 'summarize' | 'sumCosts' | 'list' | 'readTeam' | 'listAssessments' | 'verdictsOf' | 'end'> {
	let cleanup: Promise<LedgerReader> | undefined;
	const reader = (): Promise<LedgerReader> => (cleanup ??= open());
	return {
		summarize: async (query) => (await reader()).summarize(query),
		sumCosts: async (query) => (await reader()).sumCosts(query),
		readTeam: async (query) => (await reader()).readTeam(query),
		list: async (query) => (await reader()).list(query),
		listAssessments: async (query) => (await reader()).listAssessments(query),
		verdictsOf: async (requestIds) => (await reader()).verdictsOf(requestIds),
		async end() {
			await (await cleanup)?.end();
		},
	};
}

/** Like `readWhenNeeded`, for request records. */
function recordsWhenNeeded(open: () => Promise<RequestRecordReader>): RequestRecordReader {
	let opened: Promise<RequestRecordReader> | undefined;
	const reader = (): Promise<RequestRecordReader> => (opened ??= open());
	return {
		list: async (query) => (await reader()).list(query),
		scan: async (span) => (await reader()).scan(span),
		find: async (id) => (await reader()).find(id),
		async end() {
			await (await opened)?.end();
		},
	};
}

/** Counters and ledger of the gateway, and the restoration of counters from the ledger. */
import type { Config } from '../config/schema.ts';
import type { BudgetScope } from '../core/budget.ts';
import { attributeOf, counterName, hasOwnName, isInScope, scopeOfCounter } from '../core/budget-scope.ts';
import type { Clock, Timer } from '../core/clock.ts';
import type { BudgetPeriod } from '../core/counters.ts';
import type { ProviderReport } from '../core/health-report.ts';
import type { Log } from '../core/log.ts';
import type { Readiness } from '../core/readiness.ts';
import { totalTokens } from '../core/usage.ts';
import { budgetPeriodOf, spanOfPeriod, windowAt } from '../policy/limits/budget-windows.ts';
import type { AdminPorts } from '../roles/admin/admin-settings.ts';
import { TrafficResolver } from '../roles/gateway/traffic-resolver.ts';
import { UnpricedModels } from '../roles/gateway/unpriced-models.ts';
import { type AdmissionStore, type BudgetTotal, endedRetentionMs, type ReservedRequest } from '../stores/contracts/admission.ts';
import type {
	CostQuery,
	CostScope,
	EntryPage,
	Ledger,
	LedgerEntry,
	LedgerReader,
	OpenRequest,
	TeamSnapshot,
	UsageSummary,
} from '../stores/contracts/ledger.ts';
import type { RecordStore } from '../stores/contracts/records.ts';
import type { RequestRecords } from '../stores/contracts/request-records.ts';
import type { ResponseOwners } from '../stores/contracts/response-owners.ts';
import { registerCounterInstance, releaseStaleInstances } from '../stores/counter-instances.ts';
import { failOpen } from '../stores/failing-open-admission.ts';
import type { CounterStoreState } from '../stores/failing-open-settings.ts';
import { createMemoryAdmission } from '../stores/memory/memory-admission.ts';
import { openRecordsSnapshot, type RecordsSnapshot } from '../stores/records-snapshot.ts';
import { restoreMissing, type SumUpTeam } from '../stores/restoring-admission.ts';
import { measureAccounting } from './accounting-metrics.ts';
import type { AppContext } from './app-context.ts';
import { type ListModel, listModels } from './listed-models.ts';
import { openLedger, openRequestRecords } from './open-stores.ts';
import { ProviderReporter } from './provider-reports.ts';
import { recordInterrupted } from './record-requests.ts';
import { RecoveredSettlements } from './recovered-settlements.ts';
import { configuredTeams, gatewaySettings } from './settings.ts';
import type { Webhooks } from './webhooks.ts';

export interface Accounting {
	/** Current teams, budgets and prices for requests. */
	readonly records: RecordsSnapshot;
	/** Models that were requested without a price. */
	readonly unpriced: UnpricedModels;
	/** Provider traffic that the requests of this process report. */
	readonly traffic: TrafficResolver;
	/** Provider reports of all processes that serve requests. @throws UpstreamError `records_unavailable` in a process that serves none. */
	providerReports(): Promise<readonly ProviderReport[]>;
	readonly ledger: Ledger;
	readonly requestRecords: RequestRecords;
	readonly responseOwners: ResponseOwners;
	readonly admission: AdmissionStore;
	/** Counters for reports. Those that the ledger would first have to restore can be missing. */
	readonly countersAtHand: Pick<AdmissionStore, 'read'>;
	readonly sumUp: SumUpTeam;
	/** Readiness: records and ledger are required to serve requests, counters are not. */
	readiness(): Readiness;
	/** Applies the teams, models and timeouts of another configuration. */
	configure(config: Config): void;
}

/** @throws StoreUnusable. */
export async function openAccounting(context: AppContext, store: RecordStore, webhooks: Webhooks): Promise<Accounting> {
	const { config, log, cleanup } = context;
	let current = config;
	const records = await openRecordsSnapshot(store, configuredTeams(config), context);
	cleanup.defer(() => records.close());
	const ledger = await openLedger(config, context);
	cleanup.defer(() => ledger.end());
	const requestRecords = await openRequestRecords(config, context);
	cleanup.defer(() => requestRecords.end());
	const interrupted = await ledger.closeInterrupted();
	if (isRecording(config)) recordInterrupted(requestRecords, interrupted, context.clock.nowMs());
	if (interrupted.length > 0) {
		log.warn('interrupted requests of an earlier process are charged their reservation', { requests: interrupted.length });
	}
	// Prepares the ledger for the first read, which each team's first request makes.
	ledger
		.summarize({ fromMs: 0, toMs: 0, period: 'day', team: '' })
		.catch((cause: unknown) => log.warn('the ledger cannot be read', { cause }));
	const terms = {
		...context,
		listing: () => listModels(current),
		reservationMs: (isStreaming: boolean) => reservationLimitMs(current, isStreaming),
	};
	const sumUp = sumUpFrom(ledger, records, terms);
	const { admission, countersAtHand, counterStore, abandon } = await openAdmission(context, sumUp);
	cleanup.defer(() => admission.close());
	const unpriced = new UnpricedModels();
	measureAccounting(context.metrics, { ledger, requestRecords, unpriced, counterStore });
	// Counters of this process are restored from the ledger, which has these requests. Shared counters need the settlements.
	const recovered = new RecoveredSettlements({
		...context,
		settings: gatewaySettings(config),
		records,
		admission,
		notify: webhooks.notify,
	});
	if (config.stores.counters === 'memory') {
		recovered.warnOf(interrupted).catch((cause: unknown) => log.warn('budgets of interrupted requests were not checked', { cause }));
	} else {
		await recovered.settleInterrupted(interrupted);
		const sinceMs = context.clock.nowMs() - lateMs;
		const unrecorded = new UnrecordedReservations({ ...context, dataDir: config.data_dir, abandon });
		cleanup.defer(() => unrecorded.stop());
		void recovered
			.settleAgain(entriesSince(ledger, sinceMs), sinceMs)
			.catch((cause: unknown) => log.warn('recent settlements were not replayed', { cause }))
			.then(() => unrecorded.release());
	}
	const traffic = new TrafficResolver({ ...context, chance: Math.random, onHealth: webhooks.noteHealth });
	const spendWatch = webhooks.watchSpend(ledger);
	cleanup.defer(() => spendWatch.stop());
	const reporter = config.roles.includes('gateway')
		? new ProviderReporter({ ...context, store: store.providerReports, report: () => traffic.report() })
		: undefined;
	cleanup.defer(() => reporter?.stop());
	return {
		records,
		unpriced,
		traffic,
		providerReports: async () => (reporter === undefined ? [...(await store.providerReports.read()).values()] : reporter.read()),
		ledger,
		requestRecords,
		responseOwners: store.responseOwners,
		admission,
		countersAtHand,
		sumUp,
		readiness() {
			const dependencies = {
				records: records.isLoaded,
				ledger: ledger.health().isWritable,
				counters: counterStore?.().isReachable ?? true,
				request_records: requestRecords.health().isWritable,
			};
			const states = Object.entries(dependencies).map(([name, isThere]) => [name, isThere ? 'ok' : 'unavailable']);
			return { isReady: dependencies.records && dependencies.ledger, dependencies: Object.fromEntries(states) as Record<string, string> };
		},
		configure(next) {
			current = next;
			records.configure(configuredTeams(next));
		},
	};
}

export function isRecording({ requests: { record } }: Config): boolean {
	return record === 'on' || record === true;
}

interface OpenedAdmission {
	readonly admission: AdmissionStore;
	/** Counters for reports. Those that the ledger would first have to restore can be missing. */
	readonly countersAtHand: Pick<AdmissionStore, 'read'>;
	/** Undefined if the counters are in this process. */
	readonly counterStore: (() => CounterStoreState) | undefined;
	/** Releases the reservations of a dead process in shared counters. @returns the number of reservations released. */
	readonly abandon: (owner: string) => Promise<number>;
}

async function openAdmission({ config, clock, log, cleanup }: AppContext, sumUp: SumUpTeam): Promise<OpenedAdmission> {
	const { counters } = config.stores;
	if (counters === 'memory') {
		const countersAtHand = createMemoryAdmission({ clock });
		const admission = restoreMissing(countersAtHand, { clock, sumUp, endedSinceMs: () => clock.nowMs() });
		return { admission, countersAtHand, counterStore: undefined, abandon: async () => 0 };
	}
	const { openRedisAdmission } = await import('../stores/redis/redis-admission.ts');
	const run = registerCounterInstance(config.data_dir);
	cleanup.defer(() => run.end());
	const store = await openRedisAdmission({ url: counters, owner: run.owner }, { clock, log });
	const admission = failOpen(store, { budgetsOnFailure: config.budgets.store_failure }, { clock, log, sumUp });
	return { admission, countersAtHand: admission, counterStore: () => admission.state(), abandon: (owner) => store.abandon(owner) };
}

/** Maximum duration of a request, plus the time to settle it. */
function reservationLimitMs({ gateway: { timeouts } }: Config, isStreaming: boolean): number {
	return (isStreaming ? Math.max(timeouts.total_ms, timeouts.stream_total_ms) : timeouts.total_ms) + 30_000;
}

/** Maximum age of an ended request that is settled again. A restore treats requests that ended within this time as settled. */
const lateMs = 60_000;

const msPerDay = 86_400_000;

/** Page size of the search for requests that may have ended recently. */
const entriesAtOnce = 1000;
const maxPages = 100;

export interface SumUpDeps {
	readonly clock: Clock;
	/** Price list lookup of the current configuration. */
	readonly listing: () => ListModel;
	/** Maximum lifetime of a request's reservation. */
	readonly reservationMs?: (isStreaming: boolean) => number;
	/** End of the sums, a whole hour. By default, they include all requests. */
	readonly untilMs?: number;
}

/** Computes a team's counters. Name and period of a budget say what it covers, so each budget is a sum over the ledger. */
export function sumUpFrom(
	ledger: Pick<LedgerReader, 'readTeam'>,
	records: Pick<RecordsSnapshot, 'budgetsOf'>,
	{ clock, listing, reservationMs = () => 0, untilMs = Number.POSITIVE_INFINITY }: SumUpDeps,
): SumUpTeam {
	return async (team, requested, endedSinceMs) => {
		const nowMs = clock.nowMs();
		const current = records.budgetsOf(team).map((one) => ({ budget: counterName(one), period: windowAt(one, nowMs).period }));
		const byPeriod = [...Map.groupBy([...requested, ...current], (one) => one.period)];
		const dayMs = nowMs - (nowMs % msPerDay);
		const spans = byPeriod.map(([period]) => ({ ...summedSpan(spanOfPeriod(period)), period: 'all' as const }));
		const today = summedSpan({ fromMs: dayMs, toMs: dayMs + msPerDay });
		if ([today, ...spans].every(({ fromMs, toMs }) => fromMs >= toMs)) return { team, tokensToday: 0, budgets: [], endedIds: [] };
		// Requests that ended before this process started are not settled any more.
		const isLate = endedSinceMs < nowMs;
		const maxMs = Math.max(endedRetentionMs, reservationMs(true), reservationMs(false));
		const read = (costs: readonly CostQuery[]): Promise<TeamSnapshot> =>
			ledger.readTeam({
				team,
				spans: [{ ...today, period: 'day' }, ...spans],
				costs,
				...(isLate && { requests: { endedSinceMs, startedSinceMs: endedSinceMs - maxMs } }),
			});
		// Sums have no attributes. Models that such budgets need are read first, and their costs in one snapshot with the rest.
		let costs: readonly CostQuery[] = [];
		let snapshot = await read(costs);
		for (let attempt = 0; attempt < maxSnapshots; attempt++) {
			const needed = byPeriod.map(([period, wanted], index) => attributeCosts(team, period, wanted, snapshot.sums[index + 1] ?? []));
			if (needed.every(({ of }, index) => of.length === (costs[index]?.of.length ?? 0))) break;
			costs = needed;
			snapshot = await read(costs);
		}
		const { openRequests, endedIds } = snapshot;
		const [ofDay = [], ...ofPeriods] = snapshot.sums;
		return {
			team,
			tokensToday: ofDay.reduce((sum, { usage }) => sum + totalTokens(usage), 0),
			budgets: byPeriod.flatMap(([period, wanted], index) => {
				const ofAttributes = (costs[index]?.of ?? []).map((scope, place) => ({ scope, costNanoUsd: snapshot.costs[index]?.[place] ?? 0n }));
				return sumUpBudgets(team, period, wanted, ofPeriods[index] ?? [], ofAttributes);
			}),
			endedIds,
			...(isLate && { inFlightRequests: stillReserved(openRequests) }),
		};
	};

	/** Returns the rows that count toward a scope, whatever their attributes are. */
	function rowsIn(team: string, scope: BudgetScope, rows: readonly UsageSummary[]): readonly UsageSummary[] {
		const listed = listing();
		const budgets = records.budgetsOf(team);
		const plain = { ...scope, attribute: null };
		return rows.filter((row) => {
			const { clientId, provider, model } = row;
			return isInScope(plain, { clientId, provider, model, listed: listed(row) }, hasOwnName(budgets, model));
		});
	}

	/** Returns the costs that budgets with an attribute are the sums of: one for each client, provider and model in the scope. */
	function attributeCosts(team: string, period: string, wanted: readonly BudgetPeriod[], rows: readonly UsageSummary[]): CostQuery {
		const of = scopesOf(wanted).flatMap(({ scope }) =>
			scope.attribute === null
				? []
				: rowsIn(team, scope, rows).map(({ clientId, provider, model }) => {
						return { team, clientId, provider, model, attribute: attributeOf(scope.attribute ?? '') };
					}),
		);
		return { ...summedSpan(spanOfPeriod(period)), of };
	}

	function summedSpan({ fromMs, toMs }: { readonly fromMs: number; readonly toMs: number }) {
		return { fromMs: Math.min(fromMs, untilMs), toMs: Math.min(toMs, untilMs) };
	}

	function sumUpBudgets(
		team: string,
		period: string,
		wanted: readonly BudgetPeriod[],
		rows: readonly UsageSummary[],
		ofAttributes: readonly { readonly scope: CostScope; readonly costNanoUsd: bigint }[],
	): BudgetTotal[] {
		let place = 0;
		return scopesOf(wanted).map(({ budget, scope }) => {
			const counted = rowsIn(team, scope, rows);
			if (scope.attribute === null) return { budget, period, settledNanoUsd: costOf(counted) };
			const ofScope = ofAttributes.slice(place, place + counted.length);
			place += counted.length;
			return { budget, period, settledNanoUsd: costOf(ofScope) };
		});
	}

	function stillReserved(requests: readonly OpenRequest[]): ReservedRequest[] {
		const nowMs = clock.nowMs();
		return requests
			.map(({ id, startedMs, isStreaming, budgets, reservedNanoUsd }) => {
				const reservations = budgets.map((name) => ({ ...budgetPeriodOf(name, startedMs), amountNanoUsd: reservedNanoUsd }));
				return { id, admittedMs: startedMs, reservationMs: startedMs + reservationMs(isStreaming) - nowMs, reservations };
			})
			.filter((request) => request.reservationMs > 0);
	}
}

/** Snapshots that are read until one has the costs of all models that began to be used meanwhile. */
const maxSnapshots = 3;

function scopesOf(wanted: readonly BudgetPeriod[]): { readonly budget: string; readonly scope: BudgetScope }[] {
	return [...new Set(wanted.map((one) => one.budget))].flatMap((budget) => {
		const scope = scopeOfCounter(budget);
		return scope === undefined ? [] : [{ budget, scope }];
	});
}

function costOf(rows: readonly { readonly costNanoUsd: bigint }[]): bigint {
	return rows.reduce((sum, row) => sum + row.costNanoUsd, 0n);
}

/** Computes spend for reports, which need no search for requests that may still be settled. */
export function spentBy(sumUp: SumUpTeam, clock: Clock): AdminPorts['sumUpSpent'] {
	return async (team, requested) => {
		const { budgets } = await sumUp(team, requested, clock.nowMs());
		return requested.map(
			({ budget, period }) => budgets.find((one) => one.budget === budget && one.period === period)?.settledNanoUsd ?? 0n,
		);
	};
}

/** Lists entries newest first, and stops at entries that started so long before `sinceMs` that they also ended before it. */
async function* entriesSince(ledger: Pick<LedgerReader, 'list'>, sinceMs: number): AsyncGenerator<LedgerEntry> {
	let cursor: string | null = null;
	for (let page = 0; page < maxPages; page++) {
		const { rows, nextCursor }: EntryPage = await ledger.list({ limit: entriesAtOnce, ...(cursor !== null && { cursor }) });
		yield* rows;
		if (nextCursor === null || (rows.at(-1)?.startedMs ?? 0) < sinceMs - endedRetentionMs) return;
		cursor = nextCursor;
	}
}

interface UnrecordedReservationsPorts {
	readonly dataDir: string;
	readonly clock: Clock;
	readonly log: Log;
	/** Releases the reservations of a dead process in shared counters. @returns the number of reservations released. */
	readonly abandon: (owner: string) => Promise<number>;
}

/** Delay between attempts to reach the counters. */
const againMs = 5000;

/** Reservations of processes that died before they recorded the request in the ledger. */
class UnrecordedReservations {
	readonly #ports: UnrecordedReservationsPorts;
	#timer: Timer | undefined;
	#isStopped = false;

	constructor(ports: UnrecordedReservationsPorts) {
		this.#ports = ports;
	}

	/** Releases them. Call it after the ledger entries of such processes are settled: the remaining reservations have no entry. */
	async release(): Promise<void> {
		const { dataDir, clock, log, abandon } = this.#ports;
		if (this.#isStopped) return;
		try {
			const requests = await releaseStaleInstances(dataDir, abandon);
			if (requests > 0) log.warn('reservations of unrecorded requests of an earlier process are released', { requests });
		} catch (cause) {
			log.debug('reservations of an earlier process are not released yet', { cause });
			if (!this.#isStopped) this.#timer = clock.after(againMs, () => void this.release());
		}
	}

	stop(): void {
		this.#isStopped = true;
		this.#timer?.cancel();
	}
}

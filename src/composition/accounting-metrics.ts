import type { Metrics } from '../core/metrics.ts';
import type { UnpricedModels } from '../roles/gateway/unpriced-models.ts';
import type { Ledger, LedgerHealth } from '../stores/contracts/ledger.ts';
import type { RequestRecords } from '../stores/contracts/request-records.ts';
import type { CounterStoreState } from '../stores/failing-open-settings.ts';
import type { ShippingHealth } from '../stores/postgres/ledger/ledger-shipper.ts';

export interface MeasuredAccounting {
	readonly ledger: Pick<Ledger, 'health'>;
	readonly requestRecords: Pick<RequestRecords, 'health'>;
	readonly unpriced: UnpricedModels;
	/** Undefined if the counters are in this process. */
	readonly counterStore: (() => CounterStoreState) | undefined;
}

/** Metrics of counters and ledger, read from their own state at each scrape. Metrics of unused stores have no value. */
export function measureAccounting(metrics: Metrics, { ledger, requestRecords, unpriced, counterStore }: MeasuredAccounting): void {
	if (counterStore === undefined) measureCounterStore(metrics, () => undefined);
	else measureCounterStore(metrics, counterStore);
	measureLedger(metrics, () => ledger.health());
	measureRequestRecords(metrics, requestRecords);
	metrics.gauge('tollgate_unpriced_models', 'Models in use without a price, up to 1000.', () => unpriced.list().length);
}

function measureCounterStore(metrics: Metrics, state: () => CounterStoreState | undefined): void {
	const read = (valueOf: (state: CounterStoreState) => number) => () => {
		const now = state();
		return now === undefined ? [] : valueOf(now);
	};
	const unavailable = 'the counter store (`stores.counters`)';
	metrics.gauge(
		'tollgate_counter_store_up',
		`1 while ${unavailable} can be reached; 0 while requests pass without it.`,
		read(({ isReachable }) => Number(isReachable)),
	);
	metrics.total(
		'tollgate_counter_store_outages_total',
		`Times that ${unavailable} was marked unavailable.`,
		read(({ outages }) => outages),
	);
	metrics.total(
		'tollgate_counter_store_failures_total',
		`Operations of ${unavailable} that failed or took too long.`,
		read(({ failures }) => failures),
	);
	metrics.total(
		'tollgate_uncounted_requests_total',
		`Requests that passed uncounted while ${unavailable} was unavailable.`,
		read(({ uncounted }) => uncounted),
	);
	metrics.total(
		'tollgate_budget_unavailable_rejections_total',
		`Requests rejected by \`budgets.store_failure\` while ${unavailable} was unavailable.`,
		read(({ rejected }) => rejected),
	);
	metrics.gauge(
		'tollgate_counter_store_pending_updates',
		`Updates that ${unavailable} has not received yet.`,
		read(({ replayQueue }) => replayQueue),
	);
	metrics.gauge(
		'tollgate_counter_store_unrestored_teams',
		'Teams whose counters are not restored yet: their requests pass uncounted.',
		read(({ unrestoredTeams }) => unrestoredTeams),
	);
	metrics.total(
		'tollgate_counter_store_dropped_updates_total',
		`Updates dropped for ${unavailable}; the ledger has them.`,
		read(({ lost }) => lost),
	);
}

function measureRequestRecords(metrics: Metrics, records: Pick<RequestRecords, 'health'>): void {
	metrics.gauge('tollgate_request_records_writable', '1 while request records can be written; 0: they are queued.', () =>
		Number(records.health().isWritable),
	);
	metrics.gauge('tollgate_request_records_queued', 'Request records that are not written yet.', () => records.health().queuedRecords);
	metrics.total(
		'tollgate_request_records_dropped_total',
		'Request records dropped because the queue was full.',
		() => records.health().droppedRecords,
	);
}

type Health = LedgerHealth & Partial<ShippingHealth>;

function measureLedger(metrics: Metrics, health: () => Health): void {
	const read = (valueOf: (health: Health) => number | boolean | null | undefined) => () => {
		const value = valueOf(health());
		return value === null || value === undefined ? [] : Number(value);
	};
	metrics.gauge(
		'tollgate_ledger_writable',
		'1 while entries can be written; 0: requests return 503.',
		read(({ isWritable }) => isWritable),
	);
	metrics.gauge(
		'tollgate_ledger_queued_entries',
		'Entries queued for the disk.',
		read(({ queuedEntries }) => queuedEntries),
	);
	metrics.total(
		'tollgate_ledger_write_failures_total',
		'Failed entry writes.',
		read(({ rejectedEntries }) => rejectedEntries),
	);
	metrics.total(
		'tollgate_ledger_lost_entries_total',
		'Entries that could not be closed and are lost.',
		read(({ lostCloses }) => lostCloses),
	);
	metrics.total(
		'tollgate_guardrail_assessments_dropped_total',
		'Assessments dropped because they could not be written.',
		read(({ droppedAssessments }) => droppedAssessments),
	);
	metrics.gauge(
		'tollgate_ledger_postgres_up',
		'1 while entries are sent to PostgreSQL; 0: they stay spooled on this disk.',
		read(({ isShipping }) => isShipping),
	);
	metrics.gauge(
		'tollgate_ledger_spooled_entries',
		'Entries not sent to PostgreSQL yet.',
		read(({ spooledEntries }) => spooledEntries),
	);
	metrics.gauge(
		'tollgate_ledger_oldest_spooled_age_seconds',
		'Age of the oldest spooled entry in seconds; 0: none.',
		read((now) => (now.isShipping === undefined ? undefined : (now.oldestSpooledAgeMs ?? 0) / 1000)),
	);
	metrics.total(
		'tollgate_ledger_unstorable_entries_total',
		'Entries that PostgreSQL cannot store.',
		read(({ unstorableEntries }) => unstorableEntries),
	);
}

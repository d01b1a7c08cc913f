import type { Metrics } from '../core/metrics.ts';
import type { UnpricedModels } from '../roles/gateway/unpriced-models.ts';
import type { Ledger, LedgerHealth } from '../stores/contracts/ledger.ts';
import type { CounterStoreState } from '../stores/failing-open-settings.ts';
import type { ShippingHealth } from '../stores/postgres/ledger/ledger-shipper.ts';

export interface MeasuredAccounting {
	readonly ledger: Pick<Ledger, 'health'>;
	readonly unpriced: UnpricedModels;
	/** Undefined: the counters are in this process. */
	readonly counterStore: (() => CounterStoreState) | undefined;
}

/** Figures of counters and ledger, read at each scrape from what they keep themselves. Those of stores that are not in use have no value. */
export function measureAccounting(metrics: Metrics, { ledger, unpriced, counterStore }: MeasuredAccounting): void {
	if (counterStore === undefined) measureCounterStore(metrics, () => undefined);
	else measureCounterStore(metrics, counterStore);
	measureLedger(metrics, () => ledger.health());
	metrics.gauge('tollgate_unpriced_models', 'Models that were called without a price, up to 1000.', () => unpriced.list().length);
}

function measureCounterStore(metrics: Metrics, state: () => CounterStoreState | undefined): void {
	const read = (valueOf: (state: CounterStoreState) => number) => () => {
		const now = state();
		return now === undefined ? [] : valueOf(now);
	};
	const away = 'the counter store (`stores.counters`)';
	metrics.gauge(
		'tollgate_counter_store_up',
		`1 while ${away} can be reached; 0: calls pass without it.`,
		read(({ isReachable }) => Number(isReachable)),
	);
	metrics.total(
		'tollgate_counter_store_outages_total',
		`Times that ${away} was given up.`,
		read(({ outages }) => outages),
	);
	metrics.total(
		'tollgate_counter_store_failures_total',
		`Operations of ${away} that failed or took too long.`,
		read(({ failures }) => failures),
	);
	metrics.total(
		'tollgate_uncounted_requests_total',
		`Calls that passed uncounted while ${away} was away.`,
		read(({ uncounted }) => uncounted),
	);
	metrics.total(
		'tollgate_budget_unavailable_rejections_total',
		`Calls refused by \`budgets.store_failure\` while ${away} was away.`,
		read(({ declined }) => declined),
	);
	metrics.gauge(
		'tollgate_counter_store_pending_updates',
		`What ${away} is still to be told.`,
		read(({ undelivered }) => undelivered),
	);
	metrics.gauge(
		'tollgate_counter_store_unrestored_teams',
		'Teams whose counters are not restored yet: their requests pass uncounted.',
		read(({ unrestoredTeams }) => unrestoredTeams),
	);
	metrics.total(
		'tollgate_counter_store_dropped_updates_total',
		`Ends of calls that ${away} will not be told; the ledger has them.`,
		read(({ lost }) => lost),
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
		'1 while rows can be written; 0: calls are answered 503.',
		read(({ isWritable }) => isWritable),
	);
	metrics.gauge(
		'tollgate_ledger_queued_entries',
		'Rows that wait to be written to the disk.',
		read(({ queuedRows }) => queuedRows),
	);
	metrics.total(
		'tollgate_ledger_write_failures_total',
		'Rows that could not be written when they were to be.',
		read(({ rejectedRows }) => rejectedRows),
	);
	metrics.total(
		'tollgate_ledger_lost_entries_total',
		'Ends of calls that will never be written.',
		read(({ lostCloses }) => lostCloses),
	);
	metrics.total(
		'tollgate_guardrail_assessments_dropped_total',
		'Assessments that the admin API will not show, because they could not be written.',
		read(({ droppedAssessments }) => droppedAssessments),
	);
	metrics.gauge(
		'tollgate_ledger_postgres_up',
		'1 while rows reach PostgreSQL; 0: they wait on this disk.',
		read(({ isShipping }) => isShipping),
	);
	metrics.gauge(
		'tollgate_ledger_spooled_entries',
		'Rows that PostgreSQL has not been told yet.',
		read(({ spooledRows }) => spooledRows),
	);
	metrics.gauge(
		'tollgate_ledger_oldest_spooled_age_seconds',
		'Age of the oldest row that PostgreSQL has not been told; 0 when there is none.',
		read((now) => (now.isShipping === undefined ? undefined : (now.oldestSpooledAgeMs ?? 0) / 1000)),
	);
	metrics.total(
		'tollgate_ledger_unstorable_entries_total',
		'Rows that PostgreSQL can never store.',
		read(({ refusedRows }) => refusedRows),
	);
}

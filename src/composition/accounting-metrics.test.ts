import { expect, test } from 'vitest';
import { lint, readExposition, valueOf } from '../../test/support/exposition.ts';
import { createMemoryLedger } from '../../test/support/memory-ledger.ts';
import { createMemoryRequestRecords } from '../../test/support/memory-request-records.ts';
import { createRecordingLog } from '../../test/support/recording-log.ts';
import { createMetrics } from '../io/metrics.ts';
import { UnpricedModels } from '../roles/gateway/unpriced-models.ts';
import { measureAccounting } from './accounting-metrics.ts';

test('the counter store, the ledger and unpriced models are shown as they are at each scrape', async () => {
	const metrics = createMetrics();
	const unpriced = new UnpricedModels();
	let store = { isReachable: true, uncounted: 0, rejected: 0, failures: 0, outages: 0, replayQueue: 0, lost: 0, unrestoredTeams: 0 };
	let shipping = { isShipping: true, spooledEntries: 0, oldestSpooledAgeMs: null as number | null, unstorableEntries: 0 };
	const health = { ...createMemoryLedger().health() };
	let records = { isWritable: true, queuedRecords: 0, droppedRecords: 0 };
	const requestRecords = { health: () => records };
	measureAccounting(metrics, {
		ledger: { health: () => ({ ...health, ...shipping }) },
		requestRecords,
		unpriced,
		counterStore: () => store,
	});
	const scrape = async () => readExposition((await metrics.scrape()).text);
	let series = await scrape();
	const figures = (...names: string[]): (number | undefined)[] => names.map((name) => valueOf(series, `tollgate_${name}`));
	expect(figures('counter_store_up', 'counter_store_outages_total', 'uncounted_requests_total', 'unpriced_models')).toEqual([1, 0, 0, 0]);
	expect(figures('ledger_writable', 'ledger_postgres_up', 'ledger_spooled_entries', 'ledger_oldest_spooled_age_seconds')).toEqual([
		1, 1, 0, 0,
	]);

	records = { isWritable: false, queuedRecords: 5, droppedRecords: 2 };
	store = { isReachable: false, uncounted: 7, rejected: 1, failures: 9, outages: 1, replayQueue: 4, lost: 2, unrestoredTeams: 3 };
	shipping = { isShipping: false, spooledEntries: 12, oldestSpooledAgeMs: 2500, unstorableEntries: 3 };
	unpriced.note({ provider: 'b', model: 'new' } as Parameters<UnpricedModels['note']>[0], 'allow', createRecordingLog());
	series = await scrape();
	expect(figures('counter_store_up', 'counter_store_outages_total', 'counter_store_failures_total', 'uncounted_requests_total')).toEqual([
		0, 1, 9, 7,
	]);
	expect(
		figures(
			'budget_unavailable_rejections_total',
			'counter_store_pending_updates',
			'counter_store_dropped_updates_total',
			'unpriced_models',
		),
	).toEqual([1, 4, 2, 1]);
	expect(figures('counter_store_unrestored_teams')).toEqual([3]);
	expect(figures('request_records_writable', 'request_records_queued', 'request_records_dropped_total')).toEqual([0, 5, 2]);
	expect(
		figures('ledger_postgres_up', 'ledger_spooled_entries', 'ledger_oldest_spooled_age_seconds', 'ledger_unstorable_entries_total'),
	).toEqual([0, 12, 2.5, 3]);
});

test('stores that are not in use have no metrics', async () => {
	const metrics = createMetrics();
	measureAccounting(metrics, {
		ledger: createMemoryLedger(),
		requestRecords: createMemoryRequestRecords(),
		unpriced: new UnpricedModels(),
		counterStore: undefined,
	});
	const { text } = await metrics.scrape();
	const series = readExposition(text);
	expect(series.filter(({ name }) => /counter_store|shipping|spooled|refused|uncounted/.test(name))).toEqual([]);
	expect(valueOf(series, 'tollgate_ledger_writable')).toBe(1);
	expect(lint(text)).toEqual([]);
});

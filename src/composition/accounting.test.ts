import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { closeEntry } from '../../test/support/close-entry.ts';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { createMemoryLedger } from '../../test/support/memory-ledger.ts';
import { createMemoryRecords } from '../../test/support/memory-records.ts';
import { parseConfig } from '../config/load.ts';
import { plainBudget } from '../core/budget.ts';
import { allModels } from '../core/budget-scope.ts';
import { silentLog } from '../core/log.ts';
import { noUsage } from '../core/usage.ts';
import { systemClock } from '../io/system-clock.ts';
import { periodOf } from '../policy/limits/utc-time.ts';
import { budgetKey } from '../stores/contracts/admission.ts';
import { openRecordsSnapshot } from '../stores/records-snapshot.ts';
import { openSqliteLedger } from '../stores/sqlite/sqlite-ledger.ts';
import { openAccounting, sumUpFrom } from './accounting.ts';
import { createAppContext } from './app-context.ts';
import { openWebhooks } from './webhooks.ts';

const budget = {
	...plainBudget,
	team: 'red',
	limitNanoUsd: 1n,
	warningThresholdPercent: 80,
	hardLimitPercent: 100,
	createdAtMs: 0,
	updatedAtMs: 0,
};

const row = {
	team: 'red',
	clientId: 'client',
	provider: 'b',
	dialect: 'chat',
	isStreaming: false,
	priceVersion: 'v',
	reservedNanoUsd: 0n,
	budgets: [],
	endpoint: '/v1/chat/completions',
	attributes: '',
};

it('the budget of a model is computed from its requests under all names, except those that have a budget of their own', async () => {
	const clock = new ManualClock();
	const ledger = createMemoryLedger();
	const records = createMemoryRecords();
	for (const model of ['gpt', 'gpt-2026-01-01', 'Prod']) await records.budgets.create({ ...budget, id: `b-${model.toLowerCase()}`, model });
	const costs = { gpt: 1n, 'gpt-2026-01-01': 20n, 'gpt-2026-02-02': 300n, 'GPT-2026-03-03': 4000n, prod: 50_000n, other: 600_000n };
	for (const [model, costNanoUsd] of Object.entries(costs)) {
		const startedMs = clock.nowMs();
		await ledger.open({ ...row, id: model, startedMs, model });
		const ended = { endedMs: startedMs, outcome: 'complete', status: 200, usage: noUsage, isEstimated: false } as const;
		await closeEntry(ledger, { id: model, ...ended, costNanoUsd });
	}
	const snapshot = await openRecordsSnapshot(records, [], { clock, log: silentLog });
	const sumUp = sumUpFrom(ledger, snapshot, {
		clock,
		listing:
			() =>
			({ model }) =>
				/^gpt-\d/i.test(model) ? 'gpt' : undefined,
	});
	const period = periodOf(clock.nowMs());
	const { budgets } = await sumUp('red', [{ budget: allModels, period }], clock.nowMs());
	expect(Object.fromEntries(budgets.map(({ budget: name, settledNanoUsd }) => [name, settledNanoUsd]))).toEqual({
		all: 654_321n,
		'model:gpt': 4301n,
		'model:gpt-2026-01-01': 20n,
		'model:Prod': 50_000n,
	});
	snapshot.close();
	await ledger.end();
});

it('budgets of every window and scope are sums over the ledger, also those of an attribute', async () => {
	const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-scopes-'));
	const nowMs = Date.UTC(2026, 10, 26, 20, 45);
	const clock = new ManualClock(nowMs);
	const ledger = await openSqliteLedger({ dataDir, durability: 'process', retainDays: null }, { clock, log: silentLog });
	const records = createMemoryRecords();
	const scopes = [
		{ id: 'hour', window: 'hour' },
		{ id: 'day', window: 'day', timezone: 'Asia/Kolkata' },
		{ id: 'client', window: 'week', client: 'other' },
		{ id: 'project', attribute: 'project=a' },
		{ id: 'both', window: 'day', model: 'gpt*', attribute: 'project=a' },
		{ id: 'provider', provider: 'a' },
	] as const;
	for (const scope of scopes) await records.budgets.create({ ...budget, ...scope });
	const hourMs = 3_600_000;
	const entries = [
		{ startedMs: nowMs, model: 'gpt', attributes: '{"project":"a"}', costNanoUsd: 1n },
		{ startedMs: nowMs - hourMs, model: 'gpt-2', attributes: '{"project":"a","user":"1"}', costNanoUsd: 20n },
		{ startedMs: nowMs - 2 * hourMs, model: 'claude', attributes: '{"project":"a"}', costNanoUsd: 300n },
		{ startedMs: nowMs - hourMs, model: 'gpt', attributes: '{"project":"b"}', costNanoUsd: 4000n },
		{ startedMs: nowMs, model: 'gpt', provider: 'a', costNanoUsd: 50_000n },
		{ startedMs: nowMs - 24 * hourMs, model: 'gpt', clientId: 'other', costNanoUsd: 600_000n },
		{ startedMs: nowMs - 8 * 24 * hourMs, model: 'gpt', clientId: 'other', attributes: '{"project":"a"}', costNanoUsd: 7_000_000n },
	];
	for (const [index, { costNanoUsd, ...entry }] of entries.entries()) {
		await ledger.open({ ...row, id: `entry-${index}`, ...entry });
		const ended = { endedMs: nowMs, outcome: 'complete', status: 200, usage: noUsage, isEstimated: false } as const;
		await closeEntry(ledger, { id: `entry-${index}`, ...ended, costNanoUsd });
	}
	const snapshot = await openRecordsSnapshot(records, [], { clock, log: silentLog });
	const { budgets } = await sumUpFrom(ledger, snapshot, { clock, listing: () => () => undefined })('red', [], nowMs);
	expect(new Map(budgets.map((one) => [budgetKey(one), one.settledNanoUsd]))).toEqual(
		new Map([
			['2026-11-26T20+1/all', 50_001n],
			// The day in Kolkata began at 19:00 UTC.
			['2026-11-26T19+24/all', 54_021n],
			['2026-11-23T00+168/scope:client=other', 600_000n],
			['2026-11/scope:attribute=project%3Da', 7_000_321n],
			['2026-11-26T00+24/scope:model=gpt*&attribute=project%3Da', 21n],
			['2026-11/scope:provider=a', 50_000n],
		]),
	);
	snapshot.close();
	await ledger.end();
	rmSync(dataDir, { recursive: true });
});

it('counters that are restored after a reload follow the running configuration, not that of the start', async () => {
	const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-accounting-'));
	const configWith = (totalMs: number, record: string) => {
		const provider = `{ kind: openai, base_url: "https://b.example/v1", model_capabilities: { ours: ${record} } }`;
		const text = `data_dir: ${dataDir}\ngateway: { timeouts: { total_ms: ${totalMs} } }\nproviders: { b: ${provider} }`;
		return parseConfig(text, { file: null, env: {} }).config;
	};
	const records = createMemoryRecords();
	await records.budgets.create({ ...budget, id: 'b', model: 'gpt-5' });
	const cleanup = new AsyncDisposableStack();
	cleanup.defer(() => rmSync(dataDir, { recursive: true }));
	const context = createAppContext({
		config: configWith(300_000, '{}'),
		clock: systemClock,
		log: silentLog,
		phase: () => 'serving',
		cleanup,
	});
	const accounting = await openAccounting(context, records, await openWebhooks(context, records));
	const startedMs = systemClock.nowMs();
	await accounting.ledger.open({ ...row, id: 'ended', startedMs, model: 'ours' });
	const ended = { endedMs: startedMs, outcome: 'complete', status: 200, usage: noUsage, isEstimated: false } as const;
	await closeEntry(accounting.ledger, { id: 'ended', ...ended, costNanoUsd: 7n });
	await accounting.ledger.open({ ...row, id: 'open', startedMs: startedMs - 350_000, model: 'ours' });
	const restored = async () => {
		const { budgets, inFlightRequests } = await accounting.sumUp('red', [], startedMs - 1000);
		return { spent: budgets.map(({ settledNanoUsd }) => settledNanoUsd), open: inFlightRequests?.map(({ id }) => id) };
	};
	expect(await restored()).toEqual({ spent: [0n], open: [] });
	accounting.configure(configWith(600_000, '{ model: gpt-5 }'));
	expect(await restored()).toEqual({ spent: [7n], open: ['open'] });
	await cleanup.disposeAsync();
});

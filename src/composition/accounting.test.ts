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
import { openRecordsSnapshot } from '../stores/records-snapshot.ts';
import { openAccounting, sumUpFrom } from './accounting.ts';
import { createAppContext } from './app-context.ts';

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
	const accounting = await openAccounting(context, records);
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

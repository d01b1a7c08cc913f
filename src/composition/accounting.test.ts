import { expect, it } from 'vitest';
import { closeRow } from '../../test/support/close-row.ts';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { createMemoryLedger } from '../../test/support/memory-ledger.ts';
import { createMemoryRecords } from '../../test/support/memory-records.ts';
import { noUsage } from '../core/usage.ts';
import { counterName } from '../policy/limits/team-terms.ts';
import { periodOf } from '../policy/limits/utc-time.ts';
import { openRecordsSnapshot } from '../stores/records-snapshot.ts';
import { sumUpFrom } from './accounting.ts';
import { silentLog } from './silent-log.ts';

it('the budget of a model is summed up from its calls under all names, but those that have a budget of their own', async () => {
	const clock = new ManualClock();
	const ledger = createMemoryLedger();
	const records = createMemoryRecords();
	const budget = {
		team: 'red',
		period: 'monthly' as const,
		limitNanoUsd: 1n,
		warningThresholdPercent: 80,
		hardLimitPercent: 100,
		createdAtMs: 0,
		updatedAtMs: 0,
	};
	for (const model of ['gpt', 'gpt-2026-01-01', 'Prod']) await records.budgets.create({ ...budget, id: `b-${model.toLowerCase()}`, model });
	const costs = { gpt: 1n, 'gpt-2026-01-01': 20n, 'gpt-2026-02-02': 300n, 'GPT-2026-03-03': 4000n, prod: 50_000n, other: 600_000n };
	for (const [model, costNanoUsd] of Object.entries(costs)) {
		const startedMs = clock.nowMs();
		await ledger.open({
			id: model,
			startedMs,
			team: 'red',
			clientId: 'client',
			provider: 'b',
			model,
			format: 'chat',
			isStreamed: false,
			priceVersion: 'v',
			holdNanoUsd: 0n,
			budgets: [],
		});
		const ended = { endedMs: startedMs, outcome: 'complete', status: 200, usage: noUsage, isEstimated: false } as const;
		await closeRow(ledger, { id: model, ...ended, costNanoUsd });
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
	const { budgets } = await sumUp('red', [{ budget: counterName(null), period }], clock.nowMs());
	expect(Object.fromEntries(budgets.map(({ budget: name, settledNanoUsd }) => [name, settledNanoUsd]))).toEqual({
		all: 654_321n,
		'model:gpt': 4301n,
		'model:gpt-2026-01-01': 20n,
		'model:Prod': 50_000n,
	});
	snapshot.close();
	await ledger.end();
});

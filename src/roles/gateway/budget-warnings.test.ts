import { expect, test } from 'vitest';
import { readExposition, valueOf } from '../../../test/support/exposition.ts';
import { createRecordingLog } from '../../../test/support/recording-log.ts';
import { createMetrics } from '../../io/metrics.ts';
import type { BudgetTerms } from '../../policy/limits/terms-resolver.ts';
import { budgetWarnings } from './budget-warnings.ts';

const period = '2026-11';
const terms = (id: string, budget: string, budgetNanoUsd: bigint): BudgetTerms => ({
	id,
	budget,
	client: null,
	provider: null,
	attribute: null,
	period,
	window: 'month',
	isEnforced: true,
	report: 'nothing',
	fallbackModel: null,
	ledgerName: budget,
	model: budget === 'all' ? null : budget.slice('model:'.length),
	limitNanoUsd: budgetNanoUsd,
	budgetNanoUsd,
	warningThresholdPercent: 80,
});
const both = [terms('whole', 'all', 10_000_000_000n), terms('cap', 'model:gpt-4o', 1_000_000_000n)];

test('each budget that a settlement moves to its threshold has one line and one count, and no other has', async () => {
	const log = createRecordingLog();
	const metrics = createMetrics();
	const warn = budgetWarnings(metrics, log);
	const settle = (all: bigint, ofModel: bigint): void => {
		const readings = [
			{ budget: 'all', period, settledNanoUsd: all, reservedNanoUsd: 0n },
			{ budget: 'model:gpt-4o', period, settledNanoUsd: ofModel, reservedNanoUsd: 5n },
			{ budget: 'model:other', period, settledNanoUsd: 10n ** 15n, reservedNanoUsd: 0n },
		];
		warn({ team: 'red', costNanoUsd: 100_000_000n, readings }, both);
	};
	settle(7_000_000_000n, 799_999_999n);
	expect(log.lines).toEqual([]);
	settle(7_100_000_000n, 800_000_000n);
	settle(7_200_000_000n, 900_000_000n);
	settle(8_000_000_001n, 1_000_000_000n);
	expect(log.lines.map(({ level, event, fields }) => [level, event, fields])).toEqual([
		['warn', 'budget warning', { team: 'red', budget: 'cap', percent: 80, spentUsd: '0.80', limitUsd: '1.00' }],
		['warn', 'budget warning', { team: 'red', budget: 'whole', percent: 80, spentUsd: '8.000000001', limitUsd: '10.00' }],
	]);
	const found = readExposition((await metrics.scrape()).text);
	expect(['team', 'model'].map((scope) => valueOf(found, 'tollgate_budget_warnings_total', { scope }))).toEqual([1, 1]);
});

import { expect, test } from 'vitest';
import { readExposition, valueOf } from '../../../test/support/exposition.ts';
import { createRecordingLog } from '../../../test/support/recording-log.ts';
import type { Notice } from '../../core/notice.ts';
import { createMetrics } from '../../io/metrics.ts';
import type { LimitRejection } from '../../policy/limits/limit-rejection.ts';
import type { BudgetTerms } from '../../policy/limits/terms-resolver.ts';
import { budgetWarnings } from './budget-warnings.ts';
import { ExhaustedBudgets } from './exhausted-budgets.ts';

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

const usd = 1_000_000_000n;

test('each threshold is a notice of its own, with one subject for each budget and window', () => {
	const notices: Notice[] = [];
	const warn = budgetWarnings(createMetrics(), createRecordingLog(), (notice) => void notices.push(notice));
	const limited = { ...terms('whole', 'all', 10n * usd), limitNanoUsd: 12n * usd };
	const settle = (settledNanoUsd: bigint, costNanoUsd: bigint): void =>
		warn({ team: 'red', costNanoUsd, readings: [{ budget: 'all', period, settledNanoUsd, reservedNanoUsd: 0n }] }, [limited]);
	settle(9n * usd, 2n * usd);
	settle(11n * usd, 2n * usd);
	expect(notices.map(({ event }) => event)).toEqual(['budget.warning']);
	settle(13n * usd, 2n * usd);
	settle(15n * usd, 2n * usd);
	settle(15n * usd, 15n * usd);
	expect(notices.map(({ event }) => event)).toEqual(['budget.warning', 'budget.exceeded', 'budget.exceeded', 'budget.warning']);
	expect(new Set(notices.map(({ subject }) => subject)).size).toBe(1);
	expect(notices[1]).toEqual({
		event: 'budget.exceeded',
		subject: notices[0]?.subject,
		repeatsUntilMs: Date.UTC(2026, 11, 3),
		data: {
			team: 'red',
			budget: 'whole',
			model: null,
			client: null,
			provider: null,
			attribute: null,
			window: 'month',
			period_start: '2026-11-01T00:00:00.000Z',
			period_end: '2026-12-01T00:00:00.000Z',
			limit_usd: '10.00',
			spent_usd: '13.00',
			warning_threshold_percent: 80,
			enforced: true,
		},
	});
});

test('a budget that rejects requests is exhausted once, unless it was too small for one of them', () => {
	const notices: Notice[] = [];
	const exhausted = new ExhaustedBudgets((notice) => void notices.push(notice));
	const budgets = [terms('whole', 'all', 10n * usd)];
	const reject = (spent: bigint, code: string, team = 'red'): void => {
		const reading = { budgets: [{ budget: 'all', period, settledNanoUsd: spent, reservedNanoUsd: 0n }] };
		const rejected = { isAdmitted: false, binding: 'budget', budget: 'all', period, reading } as never;
		exhausted.note(team, rejected, { code } as LimitRejection, budgets);
	};
	reject(2n * usd, 'budget_exceeded');
	reject(9n * usd, 'budget_reserved');
	expect(notices).toEqual([]);
	reject(9n * usd, 'budget_exceeded');
	reject(10n * usd, 'budget_exceeded');
	reject(8n * usd, 'model_budget_exceeded', 'blue');
	expect(notices.map(({ event, data }) => [event, data['team']])).toEqual([
		['budget.exceeded', 'red'],
		['budget.exceeded', 'blue'],
	]);
});

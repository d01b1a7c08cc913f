import { z } from 'zod';
import type { Budget } from '../../../stores/contracts/records.ts';
import { givenUsd, modelName, named, readOnly, slug, text, time, timeOf, usd, usdSum, usdText } from './values.ts';

const percent = z.int().min(1).max(1000);

const fields = {
	team: text(256).describe('Id of the team.'),
	model: modelName.nullable().describe('Null: all models.'),
	limit_usd: givenUsd,
	warning_threshold_percent: percent.describe('Share of the limit at which a warning is logged.'),
	hard_limit_percent: percent.describe('Share of the limit at which requests are rejected.'),
};

export const budgetUsage = named(
	'BudgetUsage',
	z.strictObject({
		period_start: time,
		period_end: time.describe('Exclusive.'),
		spent_usd: usdSum.describe('Cost of completed requests.'),
		reserved_usd: usdSum.describe('Reserved by in-flight requests.'),
		remaining_usd: usdSum.describe('Amount left before requests are rejected.'),
		utilization_percent: z.number().min(0).describe('`spent_usd` as a percentage of `limit_usd`.'),
		state: z.enum(['ok', 'warning', 'exhausted']),
	}),
);

export const budget = named(
	'Budget',
	z.strictObject({
		id: slug,
		team: z.string(),
		model: z.string().nullable().describe('Null: all models.'),
		period: z.literal('monthly').describe('UTC calendar month.'),
		limit_usd: usd,
		warning_threshold_percent: percent,
		hard_limit_percent: percent,
		created_at: time,
		updated_at: time,
		usage: budgetUsage,
	}),
);

/** A budget in force: the team's own, or its tier's. */
export const budgetInForce = named(
	'ActiveBudget',
	z.strictObject({
		...budget.omit({ created_at: true, updated_at: true }).shape,
		id: z.string(),
		source: z.enum(['budget', 'tier']).describe('`tier`: the budget of the team’s tier applies.'),
	}),
);

const period = z.literal('monthly').optional();
const given = { id: slug.optional(), period, usage: readOnly, created_at: readOnly, updated_at: readOnly };

export const budgetInput = named(
	'BudgetInput',
	z.strictObject({
		...given,
		team: fields.team,
		model: fields.model.optional(),
		limit_usd: fields.limit_usd,
		warning_threshold_percent: fields.warning_threshold_percent.optional(),
		hard_limit_percent: fields.hard_limit_percent.optional(),
	}),
);

/** Omitted fields stay unchanged. */
export const budgetChange = named(
	'BudgetUpdate',
	z.strictObject({
		...given,
		team: fields.team.optional(),
		model: fields.model.optional(),
		limit_usd: fields.limit_usd.optional(),
		warning_threshold_percent: fields.warning_threshold_percent.optional(),
		hard_limit_percent: fields.hard_limit_percent.optional(),
	}),
);

export const budgetRecord = budget.omit({ usage: true });

export function budgetRecordBody(record: Budget): z.output<typeof budgetRecord> {
	return {
		id: record.id,
		team: record.team,
		model: record.model,
		period: record.period,
		limit_usd: usdText(record.limitNanoUsd),
		warning_threshold_percent: record.warningThresholdPercent,
		hard_limit_percent: record.hardLimitPercent,
		created_at: timeOf(record.createdAtMs),
		updated_at: timeOf(record.updatedAtMs),
	};
}

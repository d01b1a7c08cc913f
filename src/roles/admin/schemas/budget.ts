import { z } from 'zod';
import { attributeNamePattern, isAttributeValue } from '../../../core/attributes.ts';
import { type BudgetPolicy, budgetWindows, exceededActions, weekdays } from '../../../core/budget.ts';
import { attributeOf } from '../../../core/budget-scope.ts';
import { policyModes } from '../../../core/policy-mode.ts';
import type { Budget } from '../../../stores/contracts/records.ts';
import { clientOfToken, givenUsd, modelName, named, readOnly, slug, text, time, timeOf, usd, usdSum, usdText } from './values.ts';

const percent = z.int().min(1).max(1000);
const window = z.enum(budgetWindows).describe('Time over which spend counts. Default: `month`.');
const period = z.literal('monthly').nullable().describe('Earlier name of `window: month`; null for other windows.');
const timezone = z.string().describe('IANA time zone in which days, weeks and months begin, such as `Europe/Berlin`. Default: `UTC`.');
const weekStart = z.enum(weekdays).describe('First day of a week. Default: `monday`.');
const whenExceeded = z
	.enum(exceededActions)
	.describe('`reject`: 429. `fallback_model`: another model serves the request. `warn`: the response has a warning. Default: `reject`.');
const fallbackModel = modelName.nullable().describe('Model, as clients name it, for `when_exceeded: fallback_model`.');
const mode = z.enum(policyModes).describe('`monitor`: decided and recorded, and rejects nothing. Default: `enforce`.');

const fields = {
	team: text(256).describe('Id of the team.'),
	model: modelName.nullable().describe('Name of a model, or a pattern with `*`. Null: all models.'),
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
		utilization_percent: z.number().min(0).describe('`spent_usd` as a percentage of `limit_usd`, or of the amount that it is raised to.'),
		state: z.enum(['ok', 'warning', 'exhausted']),
	}),
);

export const budget = named(
	'Budget',
	z.strictObject({
		id: slug,
		team: z.string(),
		model: z.string().nullable().describe('Name or pattern. Null: all models.'),
		scope: z
			.strictObject({
				team: z.string(),
				client: z.string().nullable(),
				model: z.string().nullable(),
				provider: z.string().nullable(),
				attribute: z.string().nullable(),
			})
			.describe('Requests that count: those that match every part that is not null.'),
		window,
		period,
		timezone,
		week_start: weekStart,
		limit_usd: usd,
		warning_threshold_percent: percent,
		hard_limit_percent: percent,
		when_exceeded: whenExceeded,
		fallback_model: z.string().nullable(),
		raise: z
			.strictObject({ limit_usd: usd, until: time.describe('Exclusive.') })
			.nullable()
			.describe('A larger limit until a time.'),
		mode,
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

const scope = z
	.strictObject({
		team: fields.team.optional(),
		client: clientOfToken.nullable().optional().describe('Id of a client.'),
		model: fields.model.optional(),
		provider: text(64).nullable().optional().describe('Name of a configured provider.'),
		attribute: z
			.string()
			.refine((given) => isAttribute(given), 'must be `name=value`: a name of a-z, 0-9 and _, and 1 to 128 visible characters')
			.nullable()
			.optional()
			.describe('Attribute of requests, as `name=value`.'),
	})
	.describe('Requests that count: those that match every part given. `team` and `model` may also be given beside it.');

function isAttribute(given: string): boolean {
	const { name, value } = attributeOf(given);
	return attributeNamePattern.test(name) && isAttributeValue(value);
}

const policyFields = {
	scope: scope.optional(),
	window: window.optional(),
	period: period.optional(),
	timezone: timezone.optional(),
	week_start: weekStart.optional(),
	when_exceeded: whenExceeded.optional(),
	fallback_model: fallbackModel.optional(),
	raise: z
		.strictObject({ limit_usd: givenUsd, until: z.iso.datetime({ offset: true }).describe('RFC 3339, exclusive.') })
		.nullable()
		.optional()
		.describe('A larger limit until a time; null: none.'),
	mode: mode.optional(),
	model: fields.model.optional(),
	warning_threshold_percent: fields.warning_threshold_percent.optional(),
	hard_limit_percent: fields.hard_limit_percent.optional(),
};
const given = { id: slug.optional(), usage: readOnly, created_at: readOnly, updated_at: readOnly };

export const budgetInput = named(
	'BudgetInput',
	z.strictObject({ ...given, ...policyFields, team: fields.team.optional(), limit_usd: fields.limit_usd }),
);

/** Omitted fields stay unchanged. */
export const budgetChange = named(
	'BudgetUpdate',
	z.strictObject({ ...given, ...policyFields, team: fields.team.optional(), limit_usd: fields.limit_usd.optional() }),
);

export const budgetRecord = budget.omit({ usage: true });

/** Renders what a budget decides, without its times. */
export function budgetPolicyBody(record: BudgetPolicy & { readonly team: string }) {
	const { team, client, model, provider, attribute, raise } = record;
	return {
		id: record.id,
		team,
		model,
		scope: { team, client, model, provider, attribute },
		window: record.window,
		period: record.window === 'month' ? ('monthly' as const) : null,
		timezone: record.timezone,
		week_start: record.weekStart,
		limit_usd: usdText(record.limitNanoUsd),
		warning_threshold_percent: record.warningThresholdPercent,
		hard_limit_percent: record.hardLimitPercent,
		when_exceeded: record.whenExceeded,
		fallback_model: record.fallbackModel,
		raise: raise && { limit_usd: usdText(raise.limitNanoUsd), until: timeOf(raise.untilMs) },
		mode: record.mode,
	};
}

export function budgetRecordBody(record: Budget): z.output<typeof budgetRecord> {
	return { ...budgetPolicyBody(record), created_at: timeOf(record.createdAtMs), updated_at: timeOf(record.updatedAtMs) };
}

import { z } from 'zod';
import { totalTokens, type Usage } from '../../../core/usage.ts';
import { pageOf } from '../page.ts';
import { budgetInForce } from './budget.ts';
import { day, named, time, usdSum } from './values.ts';

const count = z.int().min(0);

export const tokens = named(
	'Tokens',
	z.strictObject({
		input: count.describe('Input tokens without cache reads and writes.'),
		output: count.describe('Output tokens, including reasoning.'),
		cache_read: count,
		cache_write: count,
		total: count.describe('The sum of the four.'),
	}),
);

export const sums = {
	requests: count.describe('Admitted requests, including in-flight ones.'),
	tokens: tokens.describe('Of completed requests.'),
	cost_usd: usdSum.describe('Of completed requests.'),
	estimated_cost_usd: usdSum.describe('Part of `cost_usd` from requests whose usage was estimated, such as interrupted ones.'),
};

const period = z.strictObject({ start: time, end: time.describe('Exclusive.') });

const modelUsage = z.strictObject({ provider: z.string(), model: z.string(), ...sums });

export const groupings = ['model', 'provider', 'client', 'day'] as const;

export type Grouping = (typeof groupings)[number];

export const usageGroup = z.strictObject({
	provider: z.string().optional(),
	model: z.string().optional(),
	client: z.string().optional(),
	day: day.optional().describe('UTC.'),
	...sums,
});

export type UsageGroup = z.output<typeof usageGroup>;

const usageRow = z
	.object({
		hour: time.optional().describe('Start of the UTC hour.'),
		day: day.optional().describe('UTC.'),
		month: z.string().optional().describe('UTC month, such as 2026-11.'),
		team: z.string().optional(),
		client: z.string().optional(),
		provider: z.string().optional(),
		model: z.string().optional(),
		endpoint: z.string().nullable().optional().describe('Path of the request; null for requests that an earlier release served.'),
		...sums,
	})
	.catchall(z.string().nullable())
	.describe('Also `attribute:NAME` for each such dimension; null for requests without the attribute.');

export const usageList = named('UsageList', z.strictObject({ period, group_by: z.string(), ...pageOf(usageRow).shape }));

const usagePeriod = z.strictObject({
	period,
	...sums,
	models: z.array(modelUsage),
	groups: z.array(usageGroup).optional().describe('Usage by `group_by`.'),
});

export const usage = named(
	'Usage',
	z.strictObject({
		team: z.string(),
		...usagePeriod.shape,
		budgets: z.array(budgetInForce).describe('Active budgets and their usage in the current UTC month.'),
		group_by: z.enum(groupings).optional(),
	}),
);

export const usageHistory = named(
	'UsageHistory',
	z.strictObject({
		team: z.string(),
		months: z.array(usagePeriod).describe('UTC months with usage, oldest first.'),
		group_by: z.enum(groupings).optional(),
	}),
);

export function tokensBody(from: Usage): z.output<typeof tokens> {
	const { inputTokens: input, outputTokens: output, cacheReadTokens, cacheWriteTokens } = from;
	return { input, output, cache_read: cacheReadTokens, cache_write: cacheWriteTokens, total: totalTokens(from) };
}

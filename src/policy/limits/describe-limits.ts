/** Renders the response of `GET /v1/limits`: remaining limits of this caller, the tightest one, and its reset. */
import type { BudgetWindow } from '../../core/budget.ts';
import { type CounterReading, countOf, type RateLimit } from '../../core/counters.ts';
import { formatUsd } from '../../core/money.ts';
import { msToPeriodEnd } from './budget-windows.ts';
import { limitOf } from './rate-limits.ts';
import type { BudgetLimit } from './request-limits.ts';
import { msToMidnight, msToNextMinute } from './utc-time.ts';

export interface LimitedTeam {
	readonly team: string;
	readonly tier: string;
	readonly limits: readonly RateLimit[];
	readonly budgets: readonly BudgetLimit[];
}

export interface LimitsBody {
	readonly object: 'limits';
	readonly team: string;
	readonly tier: string;
	/** Limit of the current UTC minute; null: unlimited. */
	readonly requests: RateBody | null;
	/** Limit of the current UTC day; null: unlimited. */
	readonly tokens: TokensBody | null;
	/** Limit of the tokens of the current UTC minute; null: unlimited. */
	readonly tokens_per_minute: TokensBody | null;
	/** Limit of the requests in flight; null: unlimited. */
	readonly concurrent_requests: ConcurrencyBody | null;
	/** Limits of a UTC minute that some models have. */
	readonly models: readonly ModelsBody[];
	readonly budgets: readonly BudgetBody[];
	/** Limit with the smallest remaining share; null when there are none. */
	readonly tightest_limit: {
		readonly limit: 'requests' | 'tokens' | 'tokens_per_minute' | 'concurrent_requests' | 'budget';
		readonly budget?: string;
		/** Pattern of the models that the limit is for; absent: all. */
		readonly models?: string;
		readonly remaining_percent: number;
	} | null;
}

interface RateBody {
	readonly limit: number;
	readonly used: number;
	readonly remaining: number;
	readonly resets_in_seconds: number;
}

interface TokensBody extends RateBody {
	/** Reservations of in-flight requests, which `used` and `remaining` do not include. */
	readonly reserved: number;
}

interface ConcurrencyBody {
	readonly limit: number;
	readonly used: number;
	readonly remaining: number;
}

interface ModelsBody {
	readonly models: string;
	readonly requests: RateBody | null;
	readonly tokens: TokensBody | null;
}

interface BudgetBody {
	readonly id: string;
	readonly model: string | null;
	readonly client: string | null;
	readonly provider: string | null;
	readonly attribute: string | null;
	readonly window: BudgetWindow;
	readonly mode: 'enforce' | 'warn' | 'monitor';
	readonly period: string;
	readonly limit_usd: string;
	readonly spent_usd: string;
	readonly reserved_usd: string;
	readonly remaining_usd: string;
	readonly remaining_percent: number;
	readonly resets_in_seconds: number;
}

export function describeLimits({ team, tier, limits, budgets: terms }: LimitedTeam, reading: CounterReading): LimitsBody {
	const requests = describeRate(limits, { kind: 'rpm' }, reading);
	const tokens = describeTokens(limits, { kind: 'daily_tokens' }, reading);
	const minuteTokens = describeTokens(limits, { kind: 'tpm' }, reading);
	const concurrent = describeRate(limits, { kind: 'concurrent_requests' }, reading);
	const patterns = [...new Set(limits.flatMap(({ models }) => models ?? []))];
	const models = patterns.map((pattern) => ({
		models: pattern,
		requests: describeRate(limits, { kind: 'rpm', models: pattern }, reading),
		tokens: describeTokens(limits, { kind: 'tpm', models: pattern }, reading),
	}));
	const budgets = terms.flatMap((limit) => describeBudget(limit, reading) ?? []);
	const candidates: NonNullable<LimitsBody['tightest_limit']>[] = [];
	if (requests !== null) candidates.push({ limit: 'requests', remaining_percent: remainingShare(requests) });
	if (tokens !== null) candidates.push({ limit: 'tokens', remaining_percent: remainingShare(tokens) });
	if (minuteTokens !== null) candidates.push({ limit: 'tokens_per_minute', remaining_percent: remainingShare(minuteTokens) });
	if (concurrent !== null) candidates.push({ limit: 'concurrent_requests', remaining_percent: remainingShare(concurrent) });
	for (const one of models) {
		const named = { models: one.models };
		if (one.requests !== null) candidates.push({ limit: 'requests', ...named, remaining_percent: remainingShare(one.requests) });
		if (one.tokens !== null) candidates.push({ limit: 'tokens_per_minute', ...named, remaining_percent: remainingShare(one.tokens) });
	}
	for (const { id, mode, remaining_percent } of budgets) {
		if (mode === 'enforce') candidates.push({ limit: 'budget', budget: id, remaining_percent });
	}
	const [first] = candidates.toSorted((one, other) => one.remaining_percent - other.remaining_percent);
	return {
		object: 'limits',
		team,
		tier,
		requests,
		tokens,
		tokens_per_minute: minuteTokens,
		concurrent_requests: concurrent && { limit: concurrent.limit, used: concurrent.used, remaining: concurrent.remaining },
		models,
		budgets,
		tightest_limit: first ?? null,
	};
}

type Counter = Pick<RateLimit, 'kind' | 'models'>;

function describeRate(limits: readonly RateLimit[], counter: Counter, reading: CounterReading): RateBody | null {
	const { kind, models } = counter;
	const limit = models === undefined ? limitOf(limits, kind) : limits.find((one) => one.kind === kind && one.models === models)?.limit;
	if (limit === null || limit === undefined) return null;
	const { used } = countOf(reading, counter);
	const resetMs = kind === 'daily_tokens' ? msToMidnight(reading.nowMs) : msToNextMinute(reading.nowMs);
	return { limit, used, remaining: Math.max(0, limit - used), resets_in_seconds: Math.ceil(resetMs / 1000) };
}

function describeTokens(limits: readonly RateLimit[], counter: Counter, reading: CounterReading): TokensBody | null {
	const rate = describeRate(limits, counter, reading);
	return rate && { ...rate, reserved: countOf(reading, counter).reserved };
}

function remainingShare({ limit, remaining }: Pick<RateBody, 'limit' | 'remaining'>): number {
	return limit === 0 ? 0 : Math.floor((remaining / limit) * 10_000) / 100;
}

function describeBudget(
	{ id, budget, period, model, client, provider, attribute, window, isEnforced, report, limitNanoUsd }: BudgetLimit,
	{ budgets, nowMs }: CounterReading,
): BudgetBody | undefined {
	const counter = budgets.find((one) => one.budget === budget && one.period === period);
	if (counter === undefined) return undefined;
	const unspentNanoUsd = limitNanoUsd - counter.settledNanoUsd - counter.reservedNanoUsd;
	const remainingNanoUsd = unspentNanoUsd > 0n ? unspentNanoUsd : 0n;
	return {
		id,
		model,
		client,
		provider,
		attribute,
		window,
		mode: isEnforced ? 'enforce' : report === 'monitor' ? 'monitor' : 'warn',
		period,
		limit_usd: formatUsd(limitNanoUsd),
		spent_usd: formatUsd(counter.settledNanoUsd),
		reserved_usd: formatUsd(counter.reservedNanoUsd),
		remaining_usd: formatUsd(remainingNanoUsd),
		remaining_percent: limitNanoUsd === 0n ? 0 : Number((remainingNanoUsd * 10_000n) / limitNanoUsd) / 100,
		resets_in_seconds: Math.ceil(msToPeriodEnd(period, nowMs) / 1000),
	};
}

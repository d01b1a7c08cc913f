/** Renders the response of `GET /v1/limits`: remaining limits of this caller, the tightest one, and its reset. */
import type { CounterReading } from '../../core/counters.ts';
import { formatUsd } from '../../core/money.ts';
import type { BudgetLimit, RateLimits } from './request-limits.ts';
import { msToMidnight, msToNextMinute, msToPeriodEnd } from './utc-time.ts';

export interface TeamLimits extends RateLimits {
	readonly team: string;
	readonly tier: string;
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
	readonly budgets: readonly BudgetBody[];
	/** Limit with the smallest remaining share; null when there are none. */
	readonly tightest_limit: {
		readonly limit: 'requests' | 'tokens' | 'budget';
		readonly budget?: string;
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

interface BudgetBody {
	readonly id: string;
	readonly model: string | null;
	readonly period: string;
	readonly limit_usd: string;
	readonly spent_usd: string;
	readonly reserved_usd: string;
	readonly remaining_usd: string;
	readonly remaining_percent: number;
	readonly resets_in_seconds: number;
}

export function describeLimits(limits: TeamLimits, reading: CounterReading): LimitsBody {
	const { nowMs } = reading;
	const requests = describeRate(limits.requestsPerMinute, reading.requestsThisMinute, msToNextMinute(nowMs));
	const dayTokens = describeRate(limits.dailyTokens, reading.tokensToday, msToMidnight(nowMs));
	const tokens = dayTokens && { ...dayTokens, reserved: reading.reservedTokens };
	const budgets = limits.budgets.flatMap((limit) => describeBudget(limit, reading) ?? []);
	const candidates: NonNullable<LimitsBody['tightest_limit']>[] = [];
	if (requests !== null) candidates.push({ limit: 'requests', remaining_percent: remainingShare(requests) });
	if (tokens !== null) candidates.push({ limit: 'tokens', remaining_percent: remainingShare(tokens) });
	for (const { id, remaining_percent } of budgets) candidates.push({ limit: 'budget', budget: id, remaining_percent });
	const [first] = candidates.toSorted((one, other) => one.remaining_percent - other.remaining_percent);
	return { object: 'limits', team: limits.team, tier: limits.tier, requests, tokens, budgets, tightest_limit: first ?? null };
}

function describeRate(limit: number | null, used: number, resetMs: number): RateBody | null {
	if (limit === null) return null;
	return { limit, used, remaining: Math.max(0, limit - used), resets_in_seconds: Math.ceil(resetMs / 1000) };
}

function remainingShare({ limit, remaining }: RateBody): number {
	return limit === 0 ? 0 : Math.floor((remaining / limit) * 10_000) / 100;
}

function describeBudget({ id, budget, model, limitNanoUsd }: BudgetLimit, { budgets, nowMs }: CounterReading): BudgetBody | undefined {
	const counter = budgets.find((one) => one.budget === budget);
	if (counter === undefined) return undefined;
	const unspentNanoUsd = limitNanoUsd - counter.settledNanoUsd - counter.reservedNanoUsd;
	const remainingNanoUsd = unspentNanoUsd > 0n ? unspentNanoUsd : 0n;
	return {
		id,
		model,
		period: counter.period,
		limit_usd: formatUsd(limitNanoUsd),
		spent_usd: formatUsd(counter.settledNanoUsd),
		reserved_usd: formatUsd(counter.reservedNanoUsd),
		remaining_usd: formatUsd(remainingNanoUsd),
		remaining_percent: limitNanoUsd === 0n ? 0 : Number((remainingNanoUsd * 10_000n) / limitNanoUsd) / 100,
		resets_in_seconds: Math.ceil(msToPeriodEnd(counter.period, nowMs) / 1000),
	};
}

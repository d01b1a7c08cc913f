import type { BudgetScope } from '../../core/budget.ts';
import { describeScope } from '../../core/budget-scope.ts';
import { countOf, type RateLimit, type Rejected } from '../../core/counters.ts';
import { formatUsd } from '../../core/money.ts';
import { Rejection, type RejectionCode } from '../../core/rejection.ts';
import type { ReachedLimit } from '../../core/request-record.ts';
import { budgetNoun, msToPeriodEnd, spanOfPeriod } from './budget-windows.ts';
import type { BudgetLimit } from './request-limits.ts';
import { msToMidnight, msToNextMinute } from './utc-time.ts';

/** Rejection by a team's limits. */
export class LimitRejection extends Rejection {
	/** Members of the body next to `error` and `request_id` (Spec: Rate-limit rejection body, Budget-hook rejection body). */
	readonly members: Readonly<Record<string, unknown>>;
	/** Undefined if the counters were unreachable. */
	readonly limit: ReachedLimit | undefined;
	/** Model that serves the requests that this budget rejects; null: none. */
	readonly fallbackModel: string | null;

	constructor(code: RejectionCode, message: string, { members, limit, fallbackModel, ...retry }: LimitRejectionOptions) {
		const { retryAfterSeconds, isWorthRetrying } = retry;
		super(code, {
			message,
			...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
			...(isWorthRetrying ? {} : { headers: { 'x-should-retry': 'false' } }),
		});
		this.members = members;
		this.limit = limit;
		this.fallbackModel = fallbackModel ?? null;
	}
}

interface LimitRejectionOptions {
	readonly retryAfterSeconds?: number;
	readonly isWorthRetrying: boolean;
	readonly members: LimitRejection['members'];
	readonly limit?: ReachedLimit;
	readonly fallbackModel?: string | null;
}

/** Rejected request: its limits, its budgets, and its reservation. */
export interface RejectedRequest {
	readonly limits: readonly RateLimit[];
	/** Usual duration of similar requests in milliseconds, after which those in flight release their reservations. */
	readonly typicalMs: number;
	readonly budgets: readonly RejectedBudget[];
}

export interface RejectedBudget extends BudgetLimit {
	readonly amountNanoUsd: bigint;
	readonly check: 'before' | 'after';
}

/** Describes the counters' rejection to the client. */
export function toLimitRejection(rejected: Rejected, request: RejectedRequest): LimitRejection {
	const { binding, models, reading } = rejected;
	if (binding === 'store') {
		const reason = 'Budgets cannot be checked: the counter store is unreachable';
		const members = { action: 'reject', reason };
		return new LimitRejection('budgets_unavailable', reason, { retryAfterSeconds: 1, isWorthRetrying: true, members });
	}
	if (binding === 'budget') return rejectForBudget(rejected, request);
	const limit = request.limits.find((one) => one.kind === binding && one.models === models);
	if (limit === undefined) throw new TypeError(`The limit ${binding} rejected a request that is not limited by it`);
	const { used, reserved } = countOf(reading, limit);
	return rejectForRate({ ...limit, limit: limit.limit ?? 0 }, { used, reserved, nowMs: reading.nowMs }, request.typicalMs);
}

interface RateNumbers {
	readonly used: number;
	readonly reserved: number;
	readonly nowMs: number;
}

const rateWords = {
	rpm: { code: 'rpm_limit_exceeded', kind: 'requests_per_minute', name: 'RPM limit', unit: 'requests per minute' },
	daily_tokens: { code: 'daily_token_limit_exceeded', kind: 'daily_tokens', name: 'Daily token limit', unit: 'tokens per day' },
	tpm: { code: 'tpm_limit_exceeded', kind: 'tokens_per_minute', name: 'TPM limit', unit: 'tokens per minute' },
	concurrent_requests: {
		code: 'concurrency_limit_exceeded',
		kind: 'concurrent_requests',
		name: 'Concurrency limit',
		unit: 'requests in flight',
	},
} as const;

type ExceededRate = RateLimit & { readonly limit: number };

function rejectForRate({ kind, models, limit }: ExceededRate, { used, reserved, nowMs }: RateNumbers, typicalMs: number): LimitRejection {
	const { code, kind: publicKind, name, unit } = rateWords[kind];
	const what = models === undefined ? name : `${name} of the models ${models}`;
	const resetMs = kind === 'daily_tokens' ? msToMidnight(nowMs) : msToNextMinute(nowMs);
	const resetsAtMs = kind === 'concurrent_requests' ? null : nowMs + resetMs;
	const exceeded: ReachedLimit = { kind: publicKind, limit, used, reserved, resetsAtMs };
	if (used < limit) {
		const sums = `${used} used, ${reserved} reserved, limit ${limit} ${unit}`;
		const missing = (used + reserved - limit + 1) / reserved;
		const waitMs = Math.min(releaseMs(missing, typicalMs), resetMs);
		return rateRejection(code, `${what} is reserved by requests in flight (${sums})`, { waitMs, isWorthRetrying: true }, exceeded);
	}
	const reason = `${what} exceeded (${used}/${limit} ${unit})`;
	const waitMs = kind === 'concurrent_requests' ? releaseMs(1 / Math.max(1, limit), typicalMs) : resetMs;
	return rateRejection(code, reason, { waitMs, isWorthRetrying: kind !== 'daily_tokens' }, exceeded);
}

interface Retry {
	readonly waitMs: number;
	readonly isWorthRetrying: boolean;
}

function rateRejection(code: RejectionCode, reason: string, { waitMs, isWorthRetrying }: Retry, limit: ReachedLimit): LimitRejection {
	const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1000));
	const members = { allowed: false, reason, retry_after_seconds: retryAfterSeconds };
	return new LimitRejection(code, reason, { retryAfterSeconds, isWorthRetrying, members, limit });
}

const maxReleaseMs = 30_000;

/**
 * Estimates the time until reservations are released. In-flight requests began evenly over their duration, so a share of the reservations
 * is released in that share of the time.
 * @param share of all reservations, from 0 to 1.
 */
function releaseMs(share: number, typicalMs: number): number {
	return Math.min(share * typicalMs, maxReleaseMs);
}

function rejectForBudget({ budget, period, reading }: Rejected, request: RejectedRequest): LimitRejection {
	const isNamed = (one: { readonly budget: string; readonly period: string }): boolean => one.budget === budget && one.period === period;
	const limit = request.budgets.find((one) => one.isEnforced && isNamed(one));
	const counter = reading.budgets.find(isNamed);
	if (limit === undefined || counter === undefined) {
		throw new TypeError(`The budget ${budget} rejected a request that has no reservation on it`);
	}
	const { limitNanoUsd, amountNanoUsd, fallbackModel } = limit;
	const { settledNanoUsd, reservedNanoUsd } = counter;
	const what = describeBudget(limit);
	const exceeded: ReachedLimit = {
		kind: limit.model === null ? 'budget' : 'model_budget',
		limit: limitNanoUsd,
		used: settledNanoUsd,
		reserved: reservedNanoUsd,
		resetsAtMs: spanOfPeriod(limit.period).toMs,
	};
	// Remaining amount, without a deduction for the reservations of other requests.
	const remainingNanoUsd = limitNanoUsd - settledNanoUsd;
	if (reservedNanoUsd > 0n && remainingNanoUsd > 0n && (limit.check === 'before' || amountNanoUsd <= remainingNanoUsd)) {
		const sums = `${formatUsd(settledNanoUsd)} spent, ${formatUsd(reservedNanoUsd)} reserved, limit ${formatUsd(limitNanoUsd)} USD`;
		const reason = `${what} is reserved by requests in flight (${sums})`;
		const needNanoUsd = limit.check === 'before' ? 1n : amountNanoUsd > 0n ? amountNanoUsd : 1n;
		const missing = Number(reservedNanoUsd + needNanoUsd - remainingNanoUsd) / Number(reservedNanoUsd);
		const retryAfterSeconds = Math.max(1, Math.ceil(releaseMs(missing, request.typicalMs) / 1000));
		const members = { action: 'reject', reason, retry_after_seconds: retryAfterSeconds };
		return new LimitRejection('budget_reserved', reason, {
			retryAfterSeconds,
			isWorthRetrying: true,
			members,
			limit: exceeded,
			fallbackModel,
		});
	}
	const sums = `${formatUsd(settledNanoUsd)}/${formatUsd(limitNanoUsd)} USD`;
	const reason =
		remainingNanoUsd <= 0n
			? `${what} exceeded (${sums})`
			: `${what} too small for this request (${sums}; the request can cost ${formatUsd(amountNanoUsd)} USD)`;
	// A month is too long to wait for: a client that reads the number would sleep for weeks.
	const retryAfterSeconds =
		limit.window === 'month' ? undefined : Math.max(1, Math.ceil(msToPeriodEnd(limit.period, reading.nowMs) / 1000));
	return new LimitRejection(budgetCode(limit), reason, {
		...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
		isWorthRetrying: false,
		members: { action: 'reject', reason, ...(retryAfterSeconds !== undefined && { retry_after_seconds: retryAfterSeconds }) },
		limit: exceeded,
		fallbackModel,
	});
}

/** Returns `Monthly budget of the model gpt-4o`, and the like. */
export function describeBudget(limit: Pick<BudgetLimit, 'window' | keyof BudgetScope>): string {
	return `${budgetNoun(limit.window)}${describeScope(limit)}`;
}

/** Returns the code of requests that exceed a budget. */
export function budgetCode({ model }: Pick<BudgetLimit, 'model'>): 'budget_exceeded' | 'model_budget_exceeded' {
	return model === null ? 'budget_exceeded' : 'model_budget_exceeded';
}

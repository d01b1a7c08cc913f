import type { Rejected } from '../../core/counters.ts';
import { formatUsd } from '../../core/money.ts';
import { Rejection, type RejectionCode } from '../../core/rejection.ts';
import type { ReachedLimit } from '../../core/request-record.ts';
import type { BudgetLimit, RateLimits } from './request-limits.ts';
import { msToMidnight, msToNextMinute, msToPeriodEnd } from './utc-time.ts';

/** Rejection by a team's limits. */
export class LimitRejection extends Rejection {
	/** Members of the body next to `error` and `request_id` (Spec: Rate-limit rejection body, Budget-hook rejection body). */
	readonly members: Readonly<Record<string, unknown>>;
	/** Undefined if the counters could not be read. */
	readonly limit: ReachedLimit | undefined;

	constructor(
		code: RejectionCode,
		message: string,
		retryAfterSeconds: number | undefined,
		isWorthRetrying: boolean,
		members: LimitRejection['members'],
		limit: ReachedLimit | undefined,
	) {
		super(code, {
			message,
			...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
			...(isWorthRetrying ? {} : { headers: { 'x-should-retry': 'false' } }),
		});
		this.members = members;
		this.limit = limit;
	}
}

/** Rejected request: its budgets, and its reservation. */
export interface RejectedRequest extends RateLimits {
	/** Usual duration of similar requests in milliseconds, after which those in flight release their reservations. */
	readonly typicalMs: number;
	readonly budgets: readonly (BudgetLimit & { readonly amountNanoUsd: bigint; readonly check: 'before' | 'after' })[];
}

/** Describes the counters' rejection to the client. */
export function toLimitRejection({ binding, budget, reading }: Rejected, request: RejectedRequest): LimitRejection {
	const { nowMs, requestsThisMinute, tokensToday, reservedTokens } = reading;
	switch (binding) {
		case 'rpm': {
			const reason = `RPM limit exceeded (${requestsThisMinute}/${request.requestsPerMinute} requests per minute)`;
			const resetsAtMs = nowMs + msToNextMinute(nowMs);
			const reached = {
				kind: 'requests_per_minute',
				limit: request.requestsPerMinute ?? 0,
				used: requestsThisMinute,
				reserved: 0,
				resetsAtMs,
			} as const;
			return rejectForRate('rpm_limit_exceeded', reason, { waitMs: msToNextMinute(nowMs), isWorthRetrying: true }, reached);
		}
		case 'daily_tokens': {
			const limit = request.dailyTokens ?? 0;
			const resetsAtMs = nowMs + msToMidnight(nowMs);
			const reached = { kind: 'daily_tokens', limit, used: tokensToday, reserved: reservedTokens, resetsAtMs } as const;
			if (tokensToday < limit) {
				const sums = `${tokensToday} used, ${reservedTokens} reserved, limit ${limit} tokens per day`;
				const missing = (tokensToday + reservedTokens - limit + 1) / reservedTokens;
				const retry = { waitMs: releaseMs(missing, request.typicalMs), isWorthRetrying: true };
				const reservedReason = `Daily token limit is reserved by requests in flight (${sums})`;
				return rejectForRate('daily_token_limit_exceeded', reservedReason, retry, reached);
			}
			const reason = `Daily token limit exceeded (${tokensToday}/${request.dailyTokens} tokens per day)`;
			return rejectForRate('daily_token_limit_exceeded', reason, { waitMs: msToMidnight(nowMs), isWorthRetrying: false }, reached);
		}
		case 'budget': {
			return rejectForBudget(budget, reading, request);
		}
		case 'store': {
			const reason = 'Budgets cannot be checked: the counter store is unreachable';
			return new LimitRejection('budgets_unavailable', reason, 1, true, { action: 'reject', reason }, undefined);
		}
	}
}

interface Retry {
	readonly waitMs: number;
	readonly isWorthRetrying: boolean;
}

function rejectForRate(code: RejectionCode, reason: string, { waitMs, isWorthRetrying }: Retry, reached: ReachedLimit): LimitRejection {
	const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1000));
	const members = { allowed: false, reason, retry_after_seconds: retryAfterSeconds };
	return new LimitRejection(code, reason, retryAfterSeconds, isWorthRetrying, members, reached);
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

function rejectForBudget(name: string | undefined, reading: Rejected['reading'], request: RejectedRequest): LimitRejection {
	const limit = request.budgets.find(({ budget }) => budget === name);
	const counter = reading.budgets.find(({ budget }) => budget === name);
	if (limit === undefined || counter === undefined) {
		throw new TypeError(`The budget ${name} rejected a request that has no reservation on it`);
	}
	const { limitNanoUsd, amountNanoUsd } = limit;
	const { settledNanoUsd, reservedNanoUsd } = counter;
	const reached: ReachedLimit = {
		kind: limit.model === null ? 'budget' : 'model_budget',
		limit: limitNanoUsd,
		used: settledNanoUsd,
		reserved: reservedNanoUsd,
		resetsAtMs: reading.nowMs + msToPeriodEnd(counter.period, reading.nowMs),
	};
	const what = limit.model === null ? 'Monthly budget' : `Monthly budget of the model ${limit.model}`;
	// Remaining amount, without a deduction for the reservations of other requests.
	const remainingNanoUsd = limitNanoUsd - settledNanoUsd;
	if (reservedNanoUsd > 0n && remainingNanoUsd > 0n && (limit.check === 'before' || amountNanoUsd <= remainingNanoUsd)) {
		const sums = `${formatUsd(settledNanoUsd)} spent, ${formatUsd(reservedNanoUsd)} reserved, limit ${formatUsd(limitNanoUsd)} USD`;
		const reason = `${what} is reserved by requests in flight (${sums})`;
		const needNanoUsd = limit.check === 'before' ? 1n : amountNanoUsd > 0n ? amountNanoUsd : 1n;
		const missing = Number(reservedNanoUsd + needNanoUsd - remainingNanoUsd) / Number(reservedNanoUsd);
		const retryAfterSeconds = Math.max(1, Math.ceil(releaseMs(missing, request.typicalMs) / 1000));
		const members = { action: 'reject', reason, retry_after_seconds: retryAfterSeconds };
		return new LimitRejection('budget_reserved', reason, retryAfterSeconds, true, members, reached);
	}
	const sums = `${formatUsd(settledNanoUsd)}/${formatUsd(limitNanoUsd)} USD`;
	const reason =
		remainingNanoUsd <= 0n
			? `${what} exceeded (${sums})`
			: `${what} too small for this request (${sums}; the request can cost ${formatUsd(amountNanoUsd)} USD)`;
	const code = limit.model === null ? 'budget_exceeded' : 'model_budget_exceeded';
	return new LimitRejection(code, reason, undefined, false, { action: 'reject', reason }, reached);
}

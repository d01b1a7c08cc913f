import type { Declined } from '../../core/counters.ts';
import { formatUsd } from '../../core/money.ts';
import { Refusal, type RefusalCode } from '../../core/refusal.ts';
import type { BudgetLimit, RateLimits } from './call-limits.ts';
import { msToMidnight, msToNextMinute } from './utc-time.ts';

/** A refusal of the team layer. */
export class LimitRefusal extends Refusal {
	/** Members of the body beside `error` and `request_id` (Spec: Rate-limit rejection body, Budget-hook rejection body). */
	readonly members: Readonly<Record<string, unknown>>;

	constructor(
		code: RefusalCode,
		message: string,
		retryAfterSeconds: number | undefined,
		isWorthRetrying: boolean,
		members: LimitRefusal['members'],
	) {
		super(code, {
			message,
			...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
			...(isWorthRetrying ? {} : { headers: { 'x-should-retry': 'false' } }),
		});
		this.members = members;
	}
}

/** A call that was declined: its budgets, and what it would have held. */
export interface DeclinedCall extends RateLimits {
	readonly budgets: readonly (BudgetLimit & { readonly amountNanoUsd: bigint })[];
}

/** The caller's words for what the counters declined. */
export function refuseCall({ binding, budget, reading }: Declined, call: DeclinedCall): LimitRefusal {
	const { nowMs, requestsThisMinute, tokensToday } = reading;
	switch (binding) {
		case 'rpm': {
			const reason = `RPM limit exceeded (${requestsThisMinute}/${call.requestsPerMinute} requests per minute)`;
			return refuseRate('rpm_limit_exceeded', reason, msToNextMinute(nowMs), true);
		}
		case 'daily_tokens': {
			const reason = `Daily token limit exceeded (${tokensToday}/${call.dailyTokens} tokens per day)`;
			return refuseRate('daily_token_limit_exceeded', reason, msToMidnight(nowMs), false);
		}
		case 'budget': {
			const { code, reason } = describeBudget(budget, reading, call);
			return new LimitRefusal(code, reason, undefined, false, { action: 'reject', reason });
		}
		case 'store': {
			const reason = 'Budgets cannot be checked at the moment';
			return new LimitRefusal('budgets_unavailable', reason, 1, true, { action: 'reject', reason });
		}
	}
}

function refuseRate(code: RefusalCode, reason: string, waitMs: number, isWorthRetrying: boolean): LimitRefusal {
	const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1000));
	return new LimitRefusal(code, reason, retryAfterSeconds, isWorthRetrying, {
		allowed: false,
		reason,
		retry_after_seconds: retryAfterSeconds,
	});
}

function describeBudget(name: string | undefined, reading: Declined['reading'], call: DeclinedCall): { code: RefusalCode; reason: string } {
	const limit = call.budgets.find(({ budget }) => budget === name);
	const counter = reading.budgets.find(({ budget }) => budget === name);
	if (limit === undefined || counter === undefined) throw new TypeError(`The budget ${name} binds a call that does not hold on it`);
	const takenNanoUsd = counter.settledNanoUsd + counter.heldNanoUsd;
	const what = limit.model === null ? 'Monthly budget' : `Monthly budget of the model ${limit.model}`;
	const sums = `${formatUsd(takenNanoUsd)}/${formatUsd(limit.limitNanoUsd)} USD`;
	return {
		code: limit.model === null ? 'budget_exceeded' : 'model_budget_exceeded',
		reason:
			takenNanoUsd >= limit.limitNanoUsd
				? `${what} exceeded (${sums})`
				: `${what} too small for this call (${sums}, the call may cost ${formatUsd(limit.amountNanoUsd)} USD)`,
	};
}

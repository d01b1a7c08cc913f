import type { CounterReading, RateKind } from '../../../core/counters.ts';
import type { RejectionCode } from '../../../core/rejection.ts';
import { budgetCode, describeBudget } from '../../../policy/limits/limit-rejection.ts';
import { monitoredRates } from '../../../policy/limits/rate-limits.ts';
import { exceededWithoutEffect } from '../../../policy/limits/request-limits.ts';
import type { TeamTerms } from '../../../policy/limits/terms-resolver.ts';
import type { BudgetReservation } from '../../../stores/contracts/admission.ts';
import type { GatewayDeps } from '../gateway-deps.ts';
import { monitorEffect } from '../request-scope/monitor-effect.ts';
import type { RequestRecorder } from '../request-scope/request-recorder.ts';

const rateCodes: Readonly<Record<RateKind, RejectionCode>> = {
	rpm: 'rpm_limit_exceeded',
	daily_tokens: 'daily_token_limit_exceeded',
	tpm: 'tpm_limit_exceeded',
	concurrent_requests: 'concurrency_limit_exceeded',
};

export interface CheckedLimits {
	readonly terms: TeamTerms;
	/** Empty: only the minute and daily limits apply. */
	readonly reservations: readonly BudgetReservation[];
	/** Tokens reserved of the daily limit. */
	readonly reservedTokens: number;
}

/** Records the limits and budgets that are not enforced and would have rejected the request, or warns the client of them. */
export function reportExceeded(
	reading: CounterReading,
	{ terms, reservations, reservedTokens }: CheckedLimits,
	reservedNanoUsd: bigint | undefined,
	recorder: RequestRecorder,
	deps: GatewayDeps,
): void {
	const monitor = (code: RejectionCode): void => monitorEffect(code, recorder, deps);
	if (terms.monitored.length > 0) {
		for (const { kind } of monitoredRates(terms.monitored, reading, reservedTokens)) monitor(rateCodes[kind]);
	}
	const [part] = reservations;
	if (part === undefined || terms.budgets.every(({ report }) => report === 'nothing')) return;
	for (const budget of exceededWithoutEffect(terms.budgets, reading, part, reservedNanoUsd ?? part.amountNanoUsd)) {
		if (budget.report === 'monitor') monitor(budgetCode(budget));
		else recorder.warn([`${describeBudget(budget)} is exceeded`]);
	}
}

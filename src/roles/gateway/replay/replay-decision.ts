import type { RecordedRequest } from '../../../stores/contracts/request-records.ts';

/** Decision of a policy about a request. */
export type Decision = RejectedDecision | ServedDecision;

export interface RejectedDecision {
	readonly isServed: false;
	readonly code: string;
}

export interface ServedDecision {
	readonly isServed: true;
	readonly provider: string | null;
	readonly model: string | null;
	/** True if the gateway limited the output of a request without a limit. */
	readonly isOutputCapped: boolean;
	readonly costNanoUsd: bigint;
}

/** Rejections that follow from what a replay decides itself. All others count as recorded. */
const decidedCodes: ReadonlySet<string | null> = new Set([
	'provider_not_set',
	'provider_unknown',
	'model_not_allowed',
	'model_unpriced',
	'rpm_limit_exceeded',
	'daily_token_limit_exceeded',
	'tpm_limit_exceeded',
	'concurrency_limit_exceeded',
	'budget_exceeded',
	'model_budget_exceeded',
	'budget_reserved',
	'budgets_unavailable',
]);

/** Returns the decision that is recorded. A request that was admitted and failed later was served. */
export function recordedDecision(request: RecordedRequest): Decision {
	const { outcome, usage, targets, code, provider, model, isOutputCapped, costNanoUsd } = request;
	const wasAdmitted = usage !== null || targets.length > 0 || code === 'provider_busy';
	if (outcome === 'rejected' && !wasAdmitted) return { isServed: false, code: code ?? '' };
	return { isServed: true, provider, model, isOutputCapped, costNanoUsd: costNanoUsd ?? 0n };
}

/** Returns true if no limit, budget, list or route could change the outcome: guardrails, invalid bodies, unread ones. */
export function isDecidedElsewhere({ modelRequested, code }: RecordedRequest, recorded: Decision): boolean {
	return modelRequested === null || (!recorded.isServed && !decidedCodes.has(code));
}

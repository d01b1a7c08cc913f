import type { Clock } from '../../../core/clock.ts';
import { Rejection } from '../../../core/rejection.ts';
import { UpstreamError } from '../../../core/upstream-error.ts';
import type { AttemptResult } from '../../../policy/resilience/attempt-result.ts';
import { retryWaitMs } from '../../../policy/resilience/retries.ts';
import type { Target } from '../../../policy/routing/target.ts';
import type { BoundTraffic, GatewayDeps } from '../gateway-deps.ts';
import { type AttemptLimits, remainingTimeouts } from '../provider-timeouts.ts';
import { readRetryAfterMs } from '../read-retry-after.ts';
import type { RequestRecorder } from '../request-scope/request-recorder.ts';
import type { RequestScope } from '../request-scope/request-scope.ts';
import type { PreparedRequest } from './prepare-request.ts';
import { estimatedResponse, isSpendStop, type ProviderResponse, sendRequest, withoutUndecryptable } from './send-request.ts';
import type { Taken } from './take-target.ts';

/** Response of a provider, or the reason why there is none. */
export type Outcome = ProviderResponse | UpstreamError | Rejection;

/**
 * Sends the request to its target, within the concurrency limit, with retries if they are safe and useful.
 * @throws `Rejection` `field_invalid`; `UpstreamError` `provider_*` once a response has begun; the reason of an abort.
 */
export function sendToProvider(taken: Taken, scope: RequestScope, deps: GatewayDeps): Promise<Outcome> {
	const { prepared } = taken;
	if (prepared.estimate !== undefined) return Promise.resolve(estimatedResponse(prepared, prepared.estimate));
	const bound = deps.traffic.get(prepared.provider.name);
	if (bound === undefined) throw new Error(`no concurrency limiter for \`${prepared.provider.name}\``);
	if (countsForHealth(prepared)) bound.traffic.retryBudget.countRequest();
	return runAttempts(taken, 0, bound, scope, deps);
}

/** Runs this attempt and further ones. */
function runAttempts(taken: Taken, retriesBefore: number, bound: BoundTraffic, scope: RequestScope, deps: GatewayDeps): Promise<Outcome> {
	const begunMs = deps.ports.clock.monotonicMs();
	const record = (outcome: Outcome): void => recordAttempt(taken.prepared.target, outcome, begunMs, scope.recorder, deps);
	const fail = (cause: unknown): never => {
		if (cause instanceof UpstreamError || cause instanceof Rejection) record(cause);
		throw cause;
	};
	return attempt(taken, bound, scope, deps).then((outcome) => {
		record(outcome);
		// A stream continues, and keeps its slot.
		if (outcome instanceof Error || Buffer.isBuffer(outcome.body)) scope.releaseSlot();
		const isNoted = countsForHealth(taken.prepared) && (taken.permit.canCost || !isOutOfTime(outcome));
		if (isNoted) bound.traffic.note(resultOf(outcome), bound.terms);
		if (isNoted && !(outcome instanceof Error)) {
			const { target, provider } = taken.prepared;
			bound.traffic.noteRateLimits(target.model, provider.protocol.rateLimits, outcome.response, begunMs);
		}
		const repaired = outcome instanceof Error ? undefined : withoutUndecryptable(taken.prepared, outcome, taken.permit.edits);
		if (repaired !== undefined) {
			scope.recorder.warn([`input: ${repaired.providerFormat.undecryptableReasoning?.warning}`]);
			return runAttempts({ ...taken, prepared: repaired }, retriesBefore, bound, scope, deps);
		}
		const waitMs = waitBeforeRetry(taken, outcome, retriesBefore, bound, scope, deps);
		if (waitMs === undefined) return outcome;
		bound.traffic.retries++;
		return pauseRequest(waitMs, scope, deps.ports.clock).then(() => runAttempts(taken, retriesBefore + 1, bound, scope, deps));
	}, fail);
}

function recordAttempt(
	{ provider, model }: Target,
	outcome: Outcome,
	begunMs: number,
	recorder: RequestRecorder,
	{ ports: { clock } }: GatewayDeps,
): void {
	const ms = (outcome instanceof Error ? undefined : outcome.upstreamMs) ?? clock.monotonicMs() - begunMs;
	if (outcome instanceof Error) recorder.attempt({ provider, model, status: null, code: outcome.code, ms });
	else recorder.attempt({ provider, model, status: outcome.response.status, code: null, ms });
}

/** Free requests have no retries, and vendors serve them separately from inference: they do not indicate the provider's health. */
function countsForHealth({ endpoint }: PreparedRequest): boolean {
	return endpoint.bills === 'usage';
}

export function resultOf(outcome: Outcome): AttemptResult {
	return outcome instanceof Error ? outcome : outcome.status;
}

/** Without a sent request, this timeout does not indicate the provider's health: earlier attempts used up the time. */
function isOutOfTime(outcome: Outcome): boolean {
	return outcome instanceof UpstreamError && outcome.code === 'provider_total_timeout';
}

/** Sends the request once it has a slot. */
function attempt(taken: Taken, { traffic, terms }: BoundTraffic, scope: RequestScope, deps: GatewayDeps): Promise<Outcome> {
	const { clock } = deps.ports;
	scope.requireRunning();
	const { prepared, permit } = taken;
	const limits = limitsOf(prepared, deps);
	const cameMs = clock.monotonicMs();
	const slot = traffic.concurrency.acquire(scope, terms, deps.settings.timeouts.firstByteMs, clock);
	if (slot === undefined && scope.firstAttemptMs === undefined) {
		scope.firstAttemptMs = cameMs;
		return sendRequest(prepared, permit, scope, limits.full, cameMs, deps);
	}
	return Promise.resolve(slot).then((cause): Outcome | Promise<Outcome> => {
		if (cause !== undefined) return cause;
		const nowMs = clock.monotonicMs();
		const remaining = remainingTimeouts(limits, scope, cameMs, nowMs);
		return remaining instanceof UpstreamError ? remaining : sendRequest(prepared, permit, scope, remaining, nowMs, deps);
	});
}

function limitsOf({ endpoint, isStreaming }: PreparedRequest, { timeouts }: GatewayDeps): AttemptLimits {
	if (endpoint.response === 'computed') return timeouts.computed;
	return isStreaming ? timeouts.streaming : timeouts.nonStreaming;
}

function waitBeforeRetry(
	{ prepared, permit }: Taken,
	outcome: Outcome,
	retriesBefore: number,
	{ traffic, terms }: BoundTraffic,
	scope: RequestScope,
	{ ports, settings }: GatewayDeps,
): number | undefined {
	const result = resultOf(outcome);
	if (terms.retries === 0 || !countsForHealth(prepared) || (typeof result === 'number' && result < 400)) return undefined;
	const response = outcome instanceof Error ? undefined : outcome;
	const waitMs = retryWaitMs(
		{
			result,
			canCost: permit.canCost,
			isSpendStop: response !== undefined && isSpendStop(response, prepared.provider.protocol),
			retryAfterMs: response && readRetryAfterMs(response.response.headers, ports.clock.nowMs()),
			retriesBefore,
			remainingMs: settings.timeouts.totalMs - (ports.clock.monotonicMs() - (scope.firstAttemptMs ?? 0)),
		},
		terms,
		traffic.chance,
	);
	return waitMs !== undefined && traffic.retryBudget.take() ? waitMs : undefined;
}

/** @throws the reason of an abort. */
function pauseRequest(ms: number, scope: RequestScope, clock: Clock): Promise<void> {
	return scope.wait((resolve) => {
		const timer = clock.after(ms, () => resolve(undefined));
		return () => timer.cancel();
	});
}

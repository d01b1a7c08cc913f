import { Fault } from '../../../core/fault.ts';
import type { Refusal } from '../../../core/refusal.ts';
import type { AttemptResult } from '../../../policy/resilience/attempt-result.ts';
import { retryWaitMs } from '../../../policy/resilience/retry-wait.ts';
import type { BoundTraffic, GatewayParts } from '../gateway-parts.ts';
import type { OpenCall } from '../open-calls.ts';
import { timeoutsLeft } from '../provider-timeouts.ts';
import { readRetryAfterMs } from '../retry-after.ts';
import { pauseCall } from './reach-upstream.ts';
import { isSpendStop, type Reply, sendCall } from './send-call.ts';
import type { Taken } from './take-target.ts';

/** What a provider said, or why it said nothing. */
export type Outcome = Reply | Fault | Refusal;

/**
 * Has the call done by its target: in its turn, and again where that is safe and worth it.
 * @throws Refusal `field_invalid`; Fault `provider_*` once an answer has begun; what the call was ended with.
 */
export function callProvider(taken: Taken, open: OpenCall, parts: GatewayParts): Promise<Outcome> {
	const bound = parts.traffic.get(taken.prepared.provider.name);
	if (bound === undefined) throw new Error(`nothing bounds calls to \`${taken.prepared.provider.name}\``);
	bound.traffic.retryBudget.countCall();
	return callFrom(taken, 0, bound, open, parts);
}

/** From this attempt on. */
function callFrom(taken: Taken, retriesBefore: number, bound: BoundTraffic, open: OpenCall, parts: GatewayParts): Promise<Outcome> {
	return attempt(taken, bound, open, parts).then((outcome) => {
		// A stream goes on, and keeps its slot.
		if (outcome instanceof Error || Buffer.isBuffer(outcome.body)) open.releaseSlot();
		if (taken.permit.mayCost || !isOutOfTime(outcome)) bound.traffic.note(resultOf(outcome), bound.terms);
		const waitMs = waitBeforeRetry(taken, outcome, retriesBefore, bound, open, parts);
		if (waitMs === undefined) return outcome;
		bound.traffic.retries++;
		return pauseCall(waitMs, open, parts.ports.clock).then(() => callFrom(taken, retriesBefore + 1, bound, open, parts));
	});
}

export function resultOf(outcome: Outcome): AttemptResult {
	return outcome instanceof Error ? outcome : outcome.status;
}

/** Where nothing was sent, this says nothing of the provider: earlier attempts took the time. */
function isOutOfTime(outcome: Outcome): boolean {
	return outcome instanceof Fault && outcome.code === 'provider_total_timeout';
}

/** Sends the call when its turn has come. */
function attempt(taken: Taken, { traffic, terms }: BoundTraffic, open: OpenCall, parts: GatewayParts): Promise<Outcome> {
	const { clock } = parts.ports;
	open.requireRunning();
	const { prepared, permit } = taken;
	const limits = prepared.isStreamed ? parts.timeouts.streaming : parts.timeouts.nonStreaming;
	const cameMs = clock.monotonicMs();
	const slot = traffic.concurrency.acquire(open, terms, parts.settings.timeouts.firstByteMs, clock);
	if (slot === undefined && open.calledMs === undefined) {
		open.calledMs = cameMs;
		return sendCall(prepared, permit, open, limits.full, cameMs, parts);
	}
	return Promise.resolve(slot).then((cause): Outcome | Promise<Outcome> => {
		if (cause !== undefined) return cause;
		const nowMs = clock.monotonicMs();
		const left = timeoutsLeft(limits, open, cameMs, nowMs);
		return left instanceof Fault ? left : sendCall(prepared, permit, open, left, nowMs, parts);
	});
}

function waitBeforeRetry(
	{ prepared: { provider }, permit }: Taken,
	outcome: Outcome,
	retriesBefore: number,
	{ traffic, terms }: BoundTraffic,
	open: OpenCall,
	{ ports, settings }: GatewayParts,
): number | undefined {
	const result = resultOf(outcome);
	if (terms.retries === 0 || (typeof result === 'number' && result < 400)) return undefined;
	const reply = outcome instanceof Error ? undefined : outcome;
	const waitMs = retryWaitMs(
		{
			result,
			mayCost: permit.mayCost,
			isSpendStop: reply !== undefined && isSpendStop(reply, provider.protocol),
			retryAfterMs: reply && readRetryAfterMs(reply.response.headers, ports.clock.nowMs()),
			retriesBefore,
			remainingMs: settings.timeouts.totalMs - (ports.clock.monotonicMs() - (open.calledMs ?? 0)),
		},
		terms,
		traffic.chance,
	);
	return waitMs !== undefined && traffic.retryBudget.take() ? waitMs : undefined;
}

import type { Clock } from '../../../core/clock.ts';
import { yieldToEventLoop } from '../../../core/cooperative-task.ts';
import type { BudgetPeriod } from '../../../core/counters.ts';
import { Rejection } from '../../../core/rejection.ts';
import type { AdmissionStore, TeamTotals } from '../../../stores/contracts/admission.ts';
import type { RecordedRequest, RequestRecordReader, RequestSpan } from '../../../stores/contracts/request-records.ts';
import type { GatewaySettings, TeamDirectory } from '../gateway-settings.ts';
import { ReplayClock } from './replay-clock.ts';
import type { Decision } from './replay-decision.ts';
import { ReplayReport, type ReplayResult } from './replay-report.ts';
import { RequestReplay } from './request-replay.ts';

/** Computes the counters of a team from the ledger. @param endedSinceMs now, because no request is in flight. */
export type SumUpBefore = (team: string, budgets: readonly BudgetPeriod[], endedSinceMs: number) => Promise<TeamTotals>;

export interface ReplayPorts {
	readonly teams: TeamDirectory;
	readonly records: Pick<RequestRecordReader, 'scan'>;
	readonly createAdmission: (clock: Clock) => AdmissionStore;
	/** @param untilMs end of the sums, a whole hour. @param clock time for which they are needed. */
	readonly createSumUp: (untilMs: number, clock: Clock) => SumUpBefore;
	/** Measures the replay itself. */
	readonly clock: Clock;
	/** Receives each decision. */
	readonly observe?: (request: RecordedRequest, decision: Decision) => void;
}

/** Bounds of a replay in a process that serves requests. */
export interface ReplayBounds {
	readonly maxRequests: number;
	readonly maxMs: number;
}

const hourMs = 3_600_000;

/** Time before the span whose requests count as recorded: minutes, reservations and requests in flight are not in the ledger's sums. */
const minCountedMs = 900_000;

/** Time after which a replay yields to the event loop. */
const maxStepMs = 2;
/** Number of requests between two reads of the clock. */
const requestsPerLook = 16;

/**
 * Decides all recorded requests of a span under other settings, and changes nothing.
 * @throws Rejection `replay_too_large`; UpstreamError `records_unavailable`.
 */
export async function runReplay(
	settings: GatewaySettings,
	{ fromMs, toMs }: RequestSpan,
	ports: ReplayPorts,
	bounds?: ReplayBounds,
): Promise<ReplayResult> {
	const clock = new ReplayClock();
	// The ledger sums whole hours.
	const countedFromMs = Math.floor((fromMs - minCountedMs) / hourMs) * hourMs;
	const sumUp = ports.createSumUp(countedFromMs, clock);
	const replay = new RequestReplay(settings, {
		teams: ports.teams,
		admission: ports.createAdmission(clock),
		clock,
		sumUp: (team, budgets) => sumUp(team, budgets, clock.nowMs()),
	});
	const report = new ReplayReport();
	const monotonicMs = (): number => ports.clock.monotonicMs();
	const startedMs = monotonicMs();
	let resumedMs = startedMs;
	let sinceLook = 0;
	await forEachRequest(ports.records, { fromMs: countedFromMs, toMs: fromMs }, async (requests) => {
		for (const request of requests) {
			const counting = replay.count(request);
			if (counting instanceof Promise) await counting;
			if (++sinceLook >= requestsPerLook) await look();
		}
	});
	await forEachRequest(ports.records, { fromMs, toMs }, async (requests) => {
		for (const request of requests) {
			const deciding = replay.decide(request);
			const decision = deciding instanceof Promise ? await deciding : deciding;
			report.add(request, decision);
			ports.observe?.(request, decision);
			if (++sinceLook >= requestsPerLook) await look();
		}
	});
	return report.result;

	async function look(): Promise<void> {
		sinceLook = 0;
		const nowMs = monotonicMs();
		if (bounds !== undefined && (report.requests > bounds.maxRequests || nowMs - startedMs > bounds.maxMs)) throw tooLarge(bounds);
		if (nowMs - resumedMs < maxStepMs) return;
		await yieldToEventLoop();
		resumedMs = monotonicMs();
	}
}

function tooLarge({ maxRequests, maxMs }: ReplayBounds): Rejection {
	return new Rejection('replay_too_large', {
		message: `The replay needs more than ${maxRequests} requests or ${maxMs / 1000} seconds: choose a shorter span, or run \`tollgate replay\` with \`--config\` on the host of the stores`,
	});
}

async function forEachRequest(
	records: ReplayPorts['records'],
	{ fromMs, toMs }: RequestSpan,
	visit: (requests: Iterable<RecordedRequest>) => Promise<void>,
): Promise<void> {
	for (let next: number | null = fromMs; next !== null && next < toMs; ) {
		const { requests, nextMs }: { requests: Iterable<RecordedRequest>; nextMs: number | null } = await records.scan({ fromMs: next, toMs });
		await visit(requests);
		next = nextMs;
	}
}

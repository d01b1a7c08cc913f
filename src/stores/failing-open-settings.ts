import type { Clock } from '../core/clock.ts';
import type { Admission } from '../core/counters.ts';
import type { Log } from '../core/log.ts';
import type { AdmissionRequest, AdmissionStore, BudgetReservation, Settled, Settlement } from './contracts/admission.ts';
import type { SumUpTeam } from './restoring-admission.ts';

export interface FailingOpenSettings {
	/**
	 * Handling of requests with a budget while the store is unreachable: `local` checks them against what this process knows, `allow` admits
	 * them, `deny` rejects them. Rate limits always pass.
	 */
	readonly budgetsOnFailure: 'local' | 'allow' | 'deny';
}

export interface FailingOpenPorts {
	readonly clock: Clock;
	readonly log: Log;
	readonly sumUp: SumUpTeam;
}

export interface FailingOpenAdmission extends AdmissionStore {
	admit(request: AdmissionRequest): Promise<Admission>;
	settle(settlement: Settlement): Promise<Settled>;
	state(): CounterStoreState;
}

export interface CounterStoreState {
	readonly isReachable: boolean;
	/** Since the start: requests admitted without the store. */
	readonly uncounted: number;
	/** Since the start: requests rejected without the store. */
	readonly rejected: number;
	/** Since the start: operations that failed or timed out. */
	readonly failures: number;
	/** Since the start: number of outages of the store. */
	readonly outages: number;
	/** Updates that the store has not received yet. */
	readonly replayQueue: number;
	/** Teams whose counters are not restored yet, so that their requests bypass the store. */
	readonly unrestoredTeams: number;
	/** Since the start: ends of requests that were dropped because the queue was full; the ledger has them. */
	readonly lost: number;
}

/** Times out after 42 to 49 ms. */
export const patience = { tickMs: 7, ticks: 6 };

/** A longer timeout, because no request waits for a replay. */
export const catchUpPatience = { tickMs: 100, ticks: 5 };

/** Timeouts within this time count as one failure. */
export const oneDelayMs = 20;

/** Consecutive failures after which the store counts as unreachable. */
export const failuresToOpen = 5;

/** Time between attempts to reach the store again. */
export const probeMs = 750;

/** Maximum time for replaying a team's updates before the team uses the store again; the rest follows. */
export const catchUpMs = 500;

/** The totals of a team with many requests are one long script, during which other teams still use the store. */
export const restorePatience = { tickMs: 500, ticks: 4 };

/** Settlements are sent, or sent again, only within this time after their request has ended. */
export const settlementMs = 180_000;

/** Team of probes. No real team can have this name. */
export const probeTeam = ':probe';

const noLimitNanoUsd = 10n ** 20n;

/** Returns the reservations as they apply while the store is unreachable. */
export function reservationsDuringOutage(
	reservations: readonly BudgetReservation[],
	{ budgetsOnFailure }: Pick<FailingOpenSettings, 'budgetsOnFailure'>,
): readonly BudgetReservation[] {
	return budgetsOnFailure === 'local'
		? reservations
		: reservations.map((reservation) => ({ ...reservation, limitNanoUsd: noLimitNanoUsd }));
}

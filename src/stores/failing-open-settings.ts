import type { Clock } from '../core/clock.ts';
import type { Admission } from '../core/counters.ts';
import type { Log } from '../core/log.ts';
import type { AdmissionRequest, AdmissionStore, BudgetHold, Settled, Settlement } from './contracts/admission.ts';
import type { SumUpTeam } from './restoring-admission.ts';

export interface FailingOpenSettings {
	/**
	 * Calls that hold on a budget while the store is away: `local` judges them by what this process knows, `allow` admits them, `deny`
	 * refuses them. Rate limits always pass.
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
	/** Since the start: calls admitted without the store. */
	readonly uncounted: number;
	/** Since the start: calls refused without the store. */
	readonly declined: number;
	/** Since the start: operations that failed or took too long. */
	readonly failures: number;
	/** Since the start: times that the store was given up. */
	readonly outages: number;
	/** What the store is still to be told. */
	readonly undelivered: number;
	/** Teams whose counters are not restored yet, so that their calls pass without the store. */
	readonly unrestoredTeams: number;
	/** Since the start: ends of calls that there were too many of to keep; the ledger has them. */
	readonly lost: number;
}

/** Gives up on an answer after 42 to 49 ms. */
export const patience = { tickMs: 7, ticks: 6 };

/** Nobody waits while the store is told what it missed. */
export const catchUpPatience = { tickMs: 100, ticks: 5 };

/** Answers that are late within so long are one failure. */
export const oneDelayMs = 20;

/** Failures in a row after which the store is no longer waited for. */
export const failuresToOpen = 5;

/** Between attempts to reach the store again. */
export const probeMs = 750;

/** The longest time for telling the store what it missed of a team before it is asked again; the rest follows. */
export const catchUpMs = 500;

/** Totals of a team with many calls are one long script; other teams are asked about meanwhile. */
export const restorePatience = { tickMs: 500, ticks: 4 };

/** Settlements are told again, or for the first time, for less than this after their call has ended. */
export const settlementMs = 180_000;

/** No team has such a name. */
export const probeTeam = ':probe';

const noLimitNanoUsd = 10n ** 20n;

/** What bounds requests while the store is away. */
export function holdsWhileAway(
	holds: readonly BudgetHold[],
	{ budgetsOnFailure }: Pick<FailingOpenSettings, 'budgetsOnFailure'>,
): readonly BudgetHold[] {
	return budgetsOnFailure === 'local' ? holds : holds.map((hold) => ({ ...hold, limitNanoUsd: noLimitNanoUsd }));
}

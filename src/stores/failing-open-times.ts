/** How long `failing-open-admission.ts` waits, and what it asks for meanwhile. */
import type { BudgetHold } from './contracts/admission.ts';
import type { FailingOpenSettings } from './failing-open-settings.ts';

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

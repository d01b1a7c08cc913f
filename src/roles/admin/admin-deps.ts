import type { AdminPorts } from './admin-settings.ts';
import type { BudgetMeter } from './budget-meter.ts';
import type { TeamLookup } from './team-lookup.ts';

/** Dependencies that all resources share. */
export interface AdminDeps extends Omit<AdminPorts, 'verifier' | 'metrics'> {
	readonly teamLookup: TeamLookup;
	readonly budgetMeter: BudgetMeter;
	/** Serializes changes: every change of a record runs in it. */
	readonly runExclusive: RunExclusive;
}

type RunExclusive = <Result>(task: () => Promise<Result>) => Promise<Result>;

/** Runs tasks one after another, so that data a task has read is still current when it writes. */
export function createKeyedMutex(): RunExclusive {
	let last: Promise<unknown> = Promise.resolve();
	return (task) => {
		const mine = last.then(task);
		last = mine.catch(() => undefined);
		return mine;
	};
}

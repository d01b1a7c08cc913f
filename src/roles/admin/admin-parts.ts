import type { AdminPorts } from './admin-settings.ts';
import type { BudgetMeter } from './budget-meter.ts';
import type { TeamLookup } from './team-lookup.ts';

/** What the resources share. */
export interface AdminParts extends Omit<AdminPorts, 'verifier' | 'metrics'> {
	readonly teamLookup: TeamLookup;
	readonly budgetMeter: BudgetMeter;
	/** Every change of a record is made in a turn. */
	readonly takeTurn: TakeTurn;
}

type TakeTurn = <Result>(task: () => Promise<Result>) => Promise<Result>;

/** Tasks run one after another, so that what one has read is still so when it writes. */
export function createTurns(): TakeTurn {
	let last: Promise<unknown> = Promise.resolve();
	return (task) => {
		const mine = last.then(task);
		last = mine.catch(() => undefined);
		return mine;
	};
}
